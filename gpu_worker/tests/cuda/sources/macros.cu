#define KERNEL extern "C" __global__ void
KERNEL plain(int *out) { out[threadIdx.x] = 1; }

#define NAMED(name) extern "C" __global__ void name
NAMED(named)(int *out) { out[threadIdx.x] = 2; }

#define FILL(T, ...)                          \
  extern "C" __global__ void fill_##T(T *out) { \
    const T value = __VA_ARGS__;                \
    out[threadIdx.x] = value;                   \
  }
FILL(int, 3)
FILL(float, (float)(1 +
                    2))

#define BOUNDED(n) __launch_bounds__(n)
#define OUTER(name, n) NAMED(BOUNDED(n) name)
OUTER(nested, 4)(int *out) { out[threadIdx.x] = 5; }
