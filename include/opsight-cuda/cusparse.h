// Types only; see opsight/host_libraries.h.
#pragma once
#include "opsight/host_libraries.h"
