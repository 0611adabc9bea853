// What a kernel's source sees in place of CUDA's own prelude when it is compiled for the executor.
// Precompiled; it contains nothing from the learner.
#pragma once
#include "abi.h"
#include "hooks.h"
#include "copies.h"
// std::copy is made of it; its line, 0, is found by the address of the code.
#define __builtin_memmove(to, from, bytes) learnml_memmove(to, from, bytes, 0)
#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <vector_types.h>
#include <vector_functions.h>
#include <math_constants.h>

// The operators are our own: they also watch for sums kept in 16 bits.
#define __CUDA_NO_HALF_OPERATORS__
#define __CUDA_NO_HALF2_OPERATORS__
#define __CUDA_NO_BFLOAT16_OPERATORS__
#define __CUDA_NO_BFLOAT162_OPERATORS__
// A half2 or bfloat162 as one access, which the hooks then see; see toolchain.py.
typedef unsigned int __attribute__((may_alias)) learnml_pair;
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#include "language.h"
#include "barriers.h"
#include "mathematics.h"
#include "rounding.h"
#include "halves.h"
#include "caches.h"
#include "atomics.h"
#include "cooperative_groups.h"
#include "pipeline.h"
#include "standard.h"
#include "entries.h"

// Included last: everything above copies only numbers.
#define memcpy learnml_memcpy
#define memmove learnml_memmove
#define memset learnml_memset
#define __builtin_memcpy learnml_memcpy
#define __builtin_memset learnml_memset
