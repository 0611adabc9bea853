// Atomic sums: those whose rounding depends on the order of threads, and others that look like them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Of several blocks, and of several threads in one.
extern "C" __global__ void of_blocks(const float *x, float *y) {
  if (threadIdx.x == 0) atomicAdd(y, x[blockIdx.x]);
}
extern "C" __global__ void of_threads(const float *x, float *y) { atomicAdd(y + blockIdx.x, x[threadIdx.x]); }
extern "C" __global__ void of_threads_in_shared_memory(const float *x, float *y) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" __global__ void of_halves(const float *x, __half *y) {
  if (threadIdx.x == 0) atomicAdd(y, __float2half(x[blockIdx.x]));
}
extern "C" __global__ void of_doubles(const float *x, double *y) {
  if (threadIdx.x == 0) atomicAdd(y, 1.0 / x[blockIdx.x]);
}
extern "C" __global__ void of_pairs(const float *x, __nv_bfloat162 *y) {
  if (threadIdx.x == 0) atomicAdd(y, __float2bfloat162_rn(x[blockIdx.x]));
}

extern "C" __global__ void own_place(const float *x, float *y) {
  if (threadIdx.x == 0) for (int i = 0; i < 8; i++) atomicAdd(y + blockIdx.x, x[i]);
}
extern "C" __global__ void integers(const float *x, int *y) { atomicAdd(y, (int)(1000 * x[threadIdx.x])); }
extern "C" __global__ void counted(const float *x, float *y) {
  if (x[threadIdx.x] > 0) atomicAdd(y, 1.0f);
}
extern "C" __global__ void of_two_blocks(const float *x, float *y) {
  if (threadIdx.x == 0 && blockIdx.x < 2) atomicAdd(y, x[blockIdx.x]);
}
extern "C" __global__ void largest(const float *x, int *y) { atomicMax(y, __float_as_int(fabsf(x[threadIdx.x]))); }
extern "C" __global__ void one_after_another(const float *x, float *y) {
  for (int i = 0; i < blockDim.x; i++) {
    if (threadIdx.x == i) atomicAdd(y + blockIdx.x, x[i]);
    __syncthreads();
  }
}
extern "C" __global__ void sums_in_turns(const float *x, float *y) {
  __shared__ float sum[2];
  if (threadIdx.x == 0) for (int i = 0; i < 8; i++) y[blockIdx.x] += x[i];
  if (threadIdx.x < 2) sum[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&sum[threadIdx.x / 2], x[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] += sum[0] + sum[1];
}
