// CUDA's keywords for memory spaces and functions, and the registers of every thread.
#pragma once

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __cluster_dims__
#undef __grid_constant__
#undef __nv_pure__
#undef __restrict__
// "flatten": what a kernel calls becomes part of it before the hooks are put in. A call that stays one
// has no hook on a structure, such as a half, that goes to it or comes from it by value. So that none
// stays for a reason of speed, __noinline__ says nothing here.
#define __global__ __attribute__((noinline, flatten))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __nv_pure__
#define LEARNML_PACKED __attribute__((packed))
// Sections that shared.ld puts together, so that the runtime knows what shared memory is. "used":
// a variable that nobody writes is junk on a device, and must not become a constant 0 here.
#define LEARNML_TEXT_OF(x) #x
#define LEARNML_TEXT(x) LEARNML_TEXT_OF(x)
#define __shared__ static __attribute__((used, section("learnml_shared." LEARNML_TEXT(__COUNTER__))))
// What NVRTC defines: headers of the host are for programs that it does not see.
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDA_ARCH__ 900
#define LEARNML_CPU 1

static const uint3 &threadIdx = learnml::now.thread_index;
static const uint3 &blockIdx = learnml::now.block_index;
static const dim3 &blockDim = learnml::now.block_size;
static const dim3 &gridDim = learnml::now.grid_size;
static const int warpSize = 32;

// What it gives here lies in no array, and each access to it would be refused without a reason.
extern "C"
    __attribute__((error("A device's heap is not there on a processor. Take shared memory, a local array, "
                         "or an array that is passed to the kernel."))) void *
    malloc(size_t) noexcept;
#define printf learnml_print
#undef assert
#define assert(condition) ((condition) ? void(0) : learnml_trap(__LINE__))

inline void __trap(int line = __builtin_LINE()) { learnml_trap(line); }
// What it is given is not computed on a device either.
#define __builtin_assume(condition) ((void)0)
inline void __brkpt() {}
inline void __nanosleep(unsigned) { learnml_pause(); }
inline void __threadfence() { learnml_fence(); }
inline void __threadfence_block() {}
inline void __threadfence_system() { learnml_fence(); }
inline long long clock64() { return learnml_clock(); }
inline long clock() { return static_cast<long>(learnml_clock()); }
