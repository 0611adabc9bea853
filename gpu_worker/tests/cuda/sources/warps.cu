#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void shuffles(int *out) {
  const unsigned all = 0xffffffffu;
  int lane = threadIdx.x, value = 100 + lane;
  int results[] = {
    __shfl_sync(all, value, 3), __shfl_sync(all, value, 9, 8), __shfl_up_sync(all, value, 2),
    __shfl_down_sync(all, value, 3), __shfl_up_sync(all, value, 1, 8), __shfl_down_sync(all, value, 1, 8),
    __shfl_xor_sync(all, value, 5), __shfl_xor_sync(all, value, 4, 4),
    (int)__ballot_sync(all, lane < 3), __any_sync(all, lane == 31), __all_sync(all, lane < 31),
    __popc(__match_any_sync(all, lane % 4)), (int)__reduce_add_sync(all, (unsigned)lane),
    __reduce_max_sync(all, -lane), (int)__popc(__activemask()),
  };
  for (int i = 0; i < 15; i++) out[i * 32 + lane] = results[i];
}
extern "C" __global__ void halves_of_a_warp(int *out) {
  int sum = threadIdx.x;
  if (threadIdx.x < 16) {
    for (int o = 8; o; o >>= 1) sum += __shfl_xor_sync(0x0000ffffu, sum, o);
  } else {
    for (int o = 8; o; o >>= 1) sum += __shfl_xor_sync(0xffff0000u, sum, o);
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void groups(float *out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  __shared__ float sums[16];
  float sum = cg::reduce(tile, (float)block.thread_rank(), cg::plus<float>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
  block.sync();
  out[block.thread_rank()] = sums[block.thread_rank() / 8] + tile.shfl(tile.thread_rank(), 2) + tile.num_threads();
}
