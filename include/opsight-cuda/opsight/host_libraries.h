// Handles and types of CUDA's host libraries, so that signatures and variables of host code can be parsed. Their functions
// are not declared: host code that calls them is skipped (src/cuda/frontend.cpp), and no kernel can.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "opsight/prelude.h"

#define OPSIGHT_HANDLE(NAME) typedef struct NAME##_opaque *NAME;
#define OPSIGHT_CODE(NAME) enum NAME : int;
OPSIGHT_HANDLE(cublasHandle_t)
OPSIGHT_HANDLE(cublasLtHandle_t)
OPSIGHT_HANDLE(cublasLtMatmulDesc_t)
OPSIGHT_HANDLE(cublasLtMatrixLayout_t)
OPSIGHT_HANDLE(cublasLtMatmulPreference_t)
OPSIGHT_HANDLE(cudnnHandle_t)
OPSIGHT_HANDLE(cudnnTensorDescriptor_t)
OPSIGHT_HANDLE(cusparseHandle_t)
OPSIGHT_HANDLE(cusparseSpMatDescr_t)
OPSIGHT_HANDLE(cusparseDnMatDescr_t)
OPSIGHT_HANDLE(cusparseDnVecDescr_t)
OPSIGHT_HANDLE(cusparseMatDescr_t)
OPSIGHT_HANDLE(cusolverDnHandle_t)
OPSIGHT_HANDLE(curandGenerator_t)
OPSIGHT_HANDLE(ncclComm_t)
typedef int cufftHandle;
OPSIGHT_CODE(cublasStatus_t)
OPSIGHT_CODE(cublasOperation_t)
OPSIGHT_CODE(cublasComputeType_t)
OPSIGHT_CODE(cublasGemmAlgo_t)
OPSIGHT_CODE(cublasMath_t)
OPSIGHT_CODE(cublasLtEpilogue_t)
OPSIGHT_CODE(cudaDataType)
typedef cudaDataType cudaDataType_t;
OPSIGHT_CODE(cudnnStatus_t)
OPSIGHT_CODE(cusparseStatus_t)
OPSIGHT_CODE(cusolverStatus_t)
OPSIGHT_CODE(curandStatus_t)
OPSIGHT_CODE(cufftResult)
OPSIGHT_CODE(ncclResult_t)
OPSIGHT_CODE(ncclDataType_t)
#undef OPSIGHT_HANDLE
#undef OPSIGHT_CODE
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
