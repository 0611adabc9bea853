#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename T> struct Of;
template <> struct Of<__half> { static __device__ __half from(float x) { return __float2half_rn(x); } };
template <> struct Of<__nv_bfloat16> { static __device__ __nv_bfloat16 from(float x) { return __float2bfloat16(x); } };
template <typename T> __global__ void arithmetic(const T *a, const T *b, T *out, const float *x, float *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + b[i]; out[n + i] = a[i] * b[i]; out[2 * n + i] = a[i] - b[i]; out[3 * n + i] = a[i] / b[i];
  out[4 * n + i] = __hfma(a[i], b[i], a[i]); out[5 * n + i] = Of<T>::from(x[i]); out[6 * n + i] = hsqrt(__habs(a[i]));
  wide[i] = (float)a[i];
}
extern "C" __global__ void pairs(const __half2 *a, __half2 *out, const float4 *v, float4 *w) {
  out[threadIdx.x] = __hadd2(__hmul2(a[threadIdx.x], __float2half2_rn(2.f)), __half2half2(__float2half(1.f)));
  float4 q = v[threadIdx.x];
  w[threadIdx.x] = make_float4(q.w, q.z, q.y, q.x);
}
extern "C" __global__ void functions(const float *x, float *y) {
  float v = x[threadIdx.x];
  float r[] = {rsqrtf(v), __frsqrt_rn(v), __expf(v), __logf(v), __fdividef(1.f, v), __powf(v, 2.f), fmaf(v, v, 1.f),
               max(v, 1.f), min(1, 2) + fminf(v, 0.5f), __saturatef(v), (float)__float2int_rn(v), __int_as_float(__float_as_int(v)),
               rsqrt(v), exp2f(v)};
  for (int i = 0; i < 14; i++) y[i * 32 + threadIdx.x] = r[i];
}
template <typename P> __device__ void shuffled(P own, unsigned *out) {
  P all[] = {__shfl_sync(~0u, own, 3), __shfl_up_sync(~0u, own, 2), __shfl_down_sync(~0u, own, 4, 16),
             __shfl_xor_sync(~0u, own, 5)};
  for (int i = 0; i < 4; i++) out[i * 32 + threadIdx.x] = __float2uint_rn(__low2float(all[i]) * 256 + __high2float(all[i]));
}
extern "C" __global__ void shuffled_pairs(unsigned *out) {
  float lane = threadIdx.x;
  shuffled(__floats2half2_rn(lane, lane + 1), out);
  shuffled(__floats2bfloat162_rn(lane, lane + 1), out + 128);
}
