#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// Three of each seven lanes: groups of a size that is no power of two.
extern "C" __global__ void some_lanes(int *out) {
  const int lane = threadIdx.x;
  if (lane % 7 < 3) {
    cg::coalesced_group group = cg::coalesced_threads();
    const int results[] = {
      (int)group.size(), (int)group.thread_rank(), cg::reduce(group, lane, cg::plus<int>()),
      cg::reduce(group, lane, cg::greater<int>()), cg::reduce(group, lane + 1, cg::less<int>()),
      cg::reduce(group, 1 << lane % 7, cg::bit_or<int>()), cg::reduce(group, 7 | lane, cg::bit_and<int>()),
      cg::reduce(group, lane, cg::bit_xor<int>()), cg::inclusive_scan(group, lane, cg::plus<int>()),
      cg::exclusive_scan(group, lane), group.shfl(lane, 4), (int)group.ballot(lane < 3), group.any(lane == 30),
      (int)cg::tiled_partition(group, 4).size(), (int)cg::tiled_partition(group, 4).meta_group_rank(),
    };
    for (int i = 0; i < 15; i++) out[i * 32 + lane] = results[i];
  }
}
// The lanes of either branch find each other, in a loop too.
extern "C" __global__ void branches(int *out) {
  const int lane = threadIdx.x;
  unsigned mask = 0;
  if (lane < 10) mask = __activemask();
  else mask = __activemask();
  out[lane] = mask;
  for (int i = 0; i < lane % 4; i++) out[32 + lane] = cg::coalesced_threads().size();
}
// Each lane that finds one adds it behind the others', with one atomic for all of them.
extern "C" __global__ void compacted(const int *x, int *out) {
  const int i = threadIdx.x;
  if (x[i] > 5) {
    auto group = cg::coalesced_threads();
    int base;
    if (group.thread_rank() == 0) base = atomicAdd(out, group.size());
    base = group.shfl(base, 0);
    out[1 + base + group.thread_rank()] = x[i];
  }
}
__device__ int ranks(cg::thread_group group) { return group.thread_rank() * 100 + group.size(); }
extern "C" __global__ void partitions(int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(warp);
  const int i = block.thread_rank();
  auto parts = cg::labeled_partition(tile, i % 3);
  auto pair = cg::binary_partition(tile, i % 8 < 3);
  int equal;
  const unsigned all = tile.match_all(i / 8, equal);
  const int results[] = {
    ranks(block), ranks(tile), ranks(cg::tiled_partition(block, 4)), ranks(parts), ranks(pair),
    (int)tile.meta_group_rank(), (int)parts.meta_group_rank(), (int)parts.meta_group_size(),
    (int)tile.match_any(i % 4), (int)all, equal, (int)tile.match_all(i / 3, equal), equal,
    (int)__match_any_sync(~0u, i % 32 / 16), (int)__match_all_sync(~0u, i / 32, &equal), equal,
  };
  for (int r = 0; r < 16; r++) out[r * 64 + i] = results[r];
}
