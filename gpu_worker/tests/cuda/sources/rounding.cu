extern "C" __global__ void directed(const float *a, const float *b, float *out, int n) {
  int i = threadIdx.x;
  float x = a[i], y = b[i];
  float r[] = {__fmul_rd(x, y), __fmul_ru(x, y), __fmul_rz(x, y), __fadd_rd(x, y), __fadd_ru(x, y), __fadd_rz(x, y),
               __double2float_rd((double)x * y), __double2float_ru((double)x * y), __double2float_rz((double)x * y)};
  for (int k = 0; k < 9; k++) out[k * n + i] = r[k];
}
extern "C" __global__ void whole(const double *x, long long *out) {
  double v = x[threadIdx.x];
  float f = (float)v;
  long long r[] = {__double2int_rn(v), __double2int_rd(v), __double2int_ru(v), __double2int_rz(v), __float2int_rn(f),
                   __double2uint_rn(v), __float2uint_rz(f), __float2ll_rd(f), (long long)__double2ull_ru(v)};
  for (int k = 0; k < 9; k++) out[k * blockDim.x + threadIdx.x] = r[k];
}
extern "C" __global__ void others(const float *x, const double *d, float *out, long long *bits) {
  out[0] = normf(3, x), out[1] = rnormf(3, x), out[2] = norm(3, d), out[3] = rnorm3df(x[0], x[1], x[2]);
  out[4] = __frcp_rd(3.0f), out[5] = __frcp_ru(3.0f), out[6] = __fsqrt_rd(2.0f), out[7] = __fsqrt_ru(2.0f);
  out[8] = __fmaf_rz(3.0f, 1e8f, 0.5f), out[9] = __fdiv_ru(1.0f, 3.0f), out[10] = __uint2float_rz(0xffffffffu);
  bits[0] = __umul24(0x1000003u, 5), bits[1] = (long long)__brevll(1), bits[2] = __sad(-3, 4, 10);
  bits[3] = __funnelshift_lc(1, 2, 40), bits[4] = __mul64hi(1ll << 40, 1ll << 30), bits[5] = clock() >= 0;
  bits[6] = __rhadd(-3, 0), bits[7] = __urhadd(0xffffffffu, 2), bits[8] = __uhadd(0xffffffffu, 2);
  bits[9] = __dp4a(0x01ff027f, 0x02030480, 5), bits[10] = __dp4a(0x01ff0280u, 0x02030480u, 5u);
  bits[11] = __hiloint2double(__double2hiint(d[2]), __double2loint(d[2])) == d[2];
  bits[12] = signbit(-0.0f) + 2 * signbit(d[0]);
  __builtin_assume(x[0] > 0);
}
