// Arrives with every CUDA file; kept so that including it works.
#pragma once
#include "opsight/prelude.h"
