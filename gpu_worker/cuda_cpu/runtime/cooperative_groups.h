// The groups of <cooperative_groups.h> that a kernel of one launch needs: blocks, tiles of a warp,
// lanes that came together; and <cooperative_groups/reduce.h> for tiles.
#pragma once

namespace cooperative_groups {

class thread_block {
 public:
  static constexpr bool is_block = true;
  void sync(int line = __builtin_LINE()) const { learnml_barrier(learnml::PLAIN, 0, line); }
  unsigned thread_rank() const { return learnml::now.linear; }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 group_index() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  dim3 thread_index() const { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  dim3 group_dim() const { return blockDim; }
  dim3 dim_threads() const { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

// All blocks of a launch. They run one after another here, so none can wait for the others.
#define LEARNML_NO_GRID_BARRIER                                                                             \
  __attribute__((error("Blocks run one after another on a processor, so a kernel cannot wait for all of them here. " \
                       "End the kernel, and do the rest in a second one.")))
class grid_group {
 public:
  LEARNML_NO_GRID_BARRIER void sync() const;
  static bool is_valid() { return false; }
  dim3 group_dim() const { return gridDim; }
  dim3 block_index() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  unsigned long long num_blocks() const { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  unsigned long long block_rank() const {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  unsigned long long size() const { return num_blocks() * this_thread_block().size(); }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const { return block_rank() * this_thread_block().size() + learnml::now.linear; }
};

inline grid_group this_grid() { return {}; }
LEARNML_NO_GRID_BARRIER void sync(const grid_group &);

// Lanes of one warp, named by a mask.
class lane_group {
 public:
  explicit lane_group(unsigned mask) : mask_(mask) {}
  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << learnml::lane()) - 1u)));
  }
  void sync(int line = __builtin_LINE()) const { learnml_warp_barrier(mask_, line); }
  template <class T>
  T shfl(T value, int rank, int line = __builtin_LINE()) const {
    return learnml::exchange(mask_, value, lane_of(static_cast<unsigned>(rank)), line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return learnml::exchange(mask_, value, lane_of(rank + delta < size() ? rank + delta : rank), line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return learnml::exchange(mask_, value, lane_of(rank >= delta ? rank - delta : rank), line);
  }
  template <class T>
  T shfl_xor(T value, unsigned ranks, int line = __builtin_LINE()) const {
    const unsigned other = thread_rank() ^ ranks;
    return learnml::exchange(mask_, value, lane_of(other < size() ? other : thread_rank()), line);
  }
  int any(int predicate, int line = __builtin_LINE()) const { return learnml_ballot(mask_, predicate, line) != 0; }
  int all(int predicate, int line = __builtin_LINE()) const { return learnml_ballot(mask_, !predicate, line) == 0; }
  unsigned ballot(int predicate, int line = __builtin_LINE()) const {
    const unsigned lanes = learnml_ballot(mask_, predicate, line);
    unsigned result = 0, rank = 0;
    for (unsigned l = 0; l < 32; l++)
      if (mask_ >> l & 1) result |= (lanes >> l & 1u) << rank++;
    return result;
  }

 protected:
  unsigned lane_of(unsigned rank) const {
    for (unsigned l = 0; l < 32; l++)
      if (mask_ >> l & 1 && rank-- == 0) return l;
    return 32;
  }
  unsigned mask_;
};

using coalesced_group = lane_group;
inline coalesced_group coalesced_threads() { return lane_group(learnml_active_mask()); }

template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public lane_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  thread_block_tile() : lane_group((Size == 32 ? ~0u : (1u << (Size & 31)) - 1u) << (learnml::lane() & ~(Size - 1u))) {}
  unsigned size() const { return Size; }
  unsigned num_threads() const { return Size; }
  unsigned thread_rank() const { return learnml::lane() & (Size - 1u); }
  unsigned meta_group_size() const { return (this_thread_block().size() + Size - 1) / Size; }
  unsigned meta_group_rank() const { return learnml::now.linear / Size; }
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  return {};
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};

// As a butterfly, so that all lanes get the same bits.
template <class Group, class T, class F>
T reduce(const Group &group, T value, F combine, int line = __builtin_LINE()) {
  for (unsigned step = group.size() / 2; step; step /= 2) value = combine(value, group.shfl_xor(value, step, line));
  return value;
}

template <class Group>
void sync(const Group &group, int line = __builtin_LINE()) {
  group.sync(line);
}

}  // namespace cooperative_groups
