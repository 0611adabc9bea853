extern "C" __global__ void counted(int *i, unsigned *u, unsigned long long *l, float *f, double *d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], 1); atomicSub(&i[1], 2); atomicMax(&i[2], t); atomicMin(&i[3], -t); atomicExch(&i[4], 9);
  atomicAnd(&i[5], ~(1 << t % 8)); atomicOr(&i[6], 1 << t % 8); atomicXor(&i[7], 1);
  atomicInc(&u[0], 99u); atomicDec(&u[1], 7u); atomicAdd(l, 1ull << 33); atomicAdd(f, 1); atomicAdd(d, 0.5);
  int seen = i[8], assumed;
  do { assumed = seen; seen = atomicCAS(&i[8], assumed, assumed + t); } while (seen != assumed);
}
extern "C" __global__ void last_block(const float *x, float *parts, float *y, unsigned *done) {
  __shared__ bool last;
  parts[blockIdx.x] = x[blockIdx.x];
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) { float s = 0; for (int i = 0; i < gridDim.x; i++) s += parts[i]; y[0] = s; }
}
