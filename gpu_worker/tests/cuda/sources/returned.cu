#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Of a block of 96 threads those from `left` on return at once; the others go on together.
extern "C" __global__ void block_goes_on(const float *x, float *y, int *votes, int left) {
  __shared__ float s[96];
  int i = threadIdx.x;
  s[i] = x[i];
  if (i >= left) return;
  __syncthreads();
  y[i] = s[95 - i];
  int count = __syncthreads_count(1), all = __syncthreads_and(1), any = __syncthreads_or(i == left - 1);
  cg::this_thread_block().sync();
  if (i == 0) { votes[0] = count; votes[1] = all != 0; votes[2] = any != 0; }
}

// Threads leave one after the other, between barriers and out of a loop.
extern "C" __global__ void one_by_one(float *y) {
  __shared__ float s[8];
  for (int round = 0; round < 8; round++) {
    if (threadIdx.x == round) return;
    s[threadIdx.x] = round;
    __syncthreads();
    y[threadIdx.x] += s[7];
    __syncthreads();
  }
}

// Of each warp the lanes from 20 on return; full masks name them all the same.
extern "C" __global__ void warp_goes_on(int *out) {
  const unsigned all = 0xffffffffu;
  int lane = threadIdx.x % 32;
  if (lane >= 20) return;
  __syncwarp();
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  tile.sync();
  int matched = 0, results[] = {
    __shfl_sync(all, lane, 19), (int)__ballot_sync(all, lane % 2), __all_sync(all, lane < 20), __any_sync(all, lane == 25),
    __popc(__match_any_sync(all, lane % 4)), (int)__match_all_sync(all, 7, &matched), matched,
    (int)__reduce_add_sync(all, (unsigned)lane), __reduce_max_sync(all, lane), __popc(__activemask()), tile.shfl(lane, 3),
  };
  for (int i = 0; i < 11; i++) out[i * 64 + threadIdx.x] = results[i];
}
