struct Shape { int rows, columns; float scale; };
__constant__ float table[4];
__device__ int calls;

extern "C" {
__global__ void indices(int *out) {
  int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int size = blockDim.x * blockDim.y * blockDim.z;
  out[block * size + thread] = block * 1000 + thread;
}
__global__ void transposed(const float *x, float *y, int n) {
  __shared__ float tile[8][9];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * n + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void reversed(const double *x, double *y) {
  extern __shared__ __align__(16) unsigned char memory[];
  double *s = reinterpret_cast<double *>(memory);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void counted(int *out) {
  int odd = threadIdx.x & 1;
  int some = __syncthreads_count(odd), all = __syncthreads_and(threadIdx.x < 100), any = __syncthreads_or(threadIdx.x == 77);
  int none = __syncthreads_or(threadIdx.x == 1000), not_all = __syncthreads_and(odd);
  if (threadIdx.x == 5) { out[0] = some; out[1] = all != 0; out[2] = any != 0; out[3] = none != 0; out[4] = not_all != 0; }
}
__global__ void by_value(Shape shape, float *y) { y[0] = shape.rows * shape.columns * shape.scale; }
__global__ void constants(float *y) { y[threadIdx.x] = table[threadIdx.x]; if (threadIdx.x == 0) calls++; }
__global__ void scalars(long long a, int b, unsigned c, float d, double e, bool f, short g, double *out) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g;
}
__global__ void spoken(int n) { if (threadIdx.x == 0) printf("n = %d, half = %.1f\n", n, n / 2.0); }
__global__ void checked(int n) {
  assert(n > 0);
}
}
