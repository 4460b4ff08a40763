// bfloat16 under its older name.
#pragma once
#include "cuda_bf16.h"
