// half under its older name.
#pragma once
#include "cuda_fp16.h"
