// The groups of <cooperative_groups.h> that a kernel of one launch needs: blocks, tiles of a warp,
// lanes that came together; and <cooperative_groups/reduce.h> and <cooperative_groups/scan.h> for them.
#pragma once

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(int line = __builtin_LINE()) { learnml_barrier(learnml::PLAIN, 0, line); }
  static unsigned thread_rank() { return learnml::now.linear; }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

// All blocks of a launch. They run one after another here, so none can wait for the others.
#define LEARNML_NO_GRID_BARRIER                                                                           \
  __attribute__((                                                                                         \
      error("Blocks run one after another on a processor, so a kernel cannot wait for all of them here. " \
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

// Lanes of one warp, given by a mask. A lane's rank is its position among them.
class coalesced_group {
 public:
  explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << learnml::lane()) - 1u)));
  }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
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
  int any(int predicate, int line = __builtin_LINE()) const { return learnml_ballot(mask_, predicate, line) != 0; }
  int all(int predicate, int line = __builtin_LINE()) const { return learnml_ballot(mask_, !predicate, line) == 0; }
  unsigned ballot(int predicate, int line = __builtin_LINE()) const {
    return ranks_of(learnml_ballot(mask_, predicate, line));
  }
  template <class T>
  unsigned match_any(T value, int line = __builtin_LINE()) const {
    return ranks_of(__match_any_sync(mask_, value, line));
  }
  template <class T>
  unsigned match_all(T value, int &predicate, int line = __builtin_LINE()) const {
    return ranks_of(__match_all_sync(mask_, value, &predicate, line));
  }
  // Internal to the executor: the partitions that the functions below create.
  unsigned lanes() const { return mask_; }

 protected:
  unsigned lane_of(unsigned rank) const {
    for (unsigned l = 0; l < 32; l++)
      if (mask_ >> l & 1 && rank-- == 0) return l;
    return 32;
  }
  unsigned ranks_of(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned l = 0; l < 32; l++)
      if (mask_ >> l & 1) result |= (lanes >> l & 1u) << rank++;
    return result;
  }
  unsigned mask_, meta_rank_, meta_size_;
};

// The lanes that come to this line while no other lane of the warp can go on: see release_met in warps.inc.
inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(learnml_active_mask(line));
}

template <unsigned Size, class Parent = void>
class thread_block_tile : public coalesced_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : coalesced_group((Size == 32 ? ~0u : (1u << (Size & 31)) - 1u) << (learnml::lane() & ~(Size - 1u)), meta_rank,
                        meta_size) {}
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other> &other) : coalesced_group(other) {}
  unsigned size() const { return Size; }
  unsigned num_threads() const { return Size; }
  unsigned thread_rank() const { return learnml::lane() & (Size - 1u); }
  template <class T>
  T shfl_xor(T value, unsigned ranks, int line = __builtin_LINE()) const {
    const unsigned other = thread_rank() ^ ranks;
    return learnml::exchange(mask_, value, lane_of(other < Size ? other : thread_rank()), line);
  }
};

template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block &block) {
  return {block.thread_rank() / Size, (block.size() + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, class Parent>
thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent> &tile) {
  static_assert(Size <= ParentSize, "a tile of a tile is no larger");
  return {tile.thread_rank() / Size, ParentSize / Size};
}

// Any group, through the functions that all of them have.
class thread_group {
 public:
  thread_group(const thread_block &) : lanes_(0), is_block_(true) {}
  thread_group(const coalesced_group &lanes) : lanes_(lanes), is_block_(false) {}
  void sync(int line = __builtin_LINE()) const { is_block_ ? thread_block::sync(line) : lanes_.sync(line); }
  unsigned size() const { return is_block_ ? thread_block::size() : lanes_.size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank(); }
  bool is_valid() const { return true; }
  bool is_block() const { return is_block_; }
  const coalesced_group &lanes() const { return lanes_; }

 private:
  coalesced_group lanes_;
  bool is_block_;
};

namespace learnml_parts {

// Tiles of a size known only at run time: lanes whose ranks fall in one multiple of it.
inline coalesced_group part(unsigned mask, unsigned size, unsigned rank, unsigned count, unsigned tile, int line) {
  if (tile == 0 || tile > 32 || (tile & (tile - 1))) learnml_trap(line);
  unsigned lanes = 0, at = 0;
  for (unsigned l = 0; l < 32; l++)
    if (mask >> l & 1 && at++ / tile == rank % 32 / tile) lanes |= 1u << l;
  return coalesced_group(lanes, count, (size + tile - 1) / tile);
}

}  // namespace learnml_parts

inline coalesced_group tiled_partition(const coalesced_group &group, unsigned tile, int line = __builtin_LINE()) {
  const unsigned rank = group.thread_rank();
  return learnml_parts::part(group.lanes(), group.size(), rank, tile ? rank / tile : 0, tile, line);
}
inline thread_group tiled_partition(const thread_block &block, unsigned tile, int line = __builtin_LINE()) {
  const unsigned rank = block.thread_rank(), left = block.size() - (rank & ~31u);
  const unsigned warp = left >= 32 ? ~0u : (1u << left) - 1u;
  return learnml_parts::part(warp, block.size(), rank, tile ? rank / tile : 0, tile, line);
}
inline thread_group tiled_partition(const thread_group &group, unsigned tile, int line = __builtin_LINE()) {
  if (group.is_block()) return tiled_partition(thread_block(), tile, line);
  return tiled_partition(group.lanes(), tile, line);
}

// Lanes with the same label; the parts are numbered by their first lanes.
template <class T>
coalesced_group labeled_partition(const coalesced_group &group, T label, int line = __builtin_LINE()) {
  static_assert(std::is_integral_v<T> || std::is_pointer_v<T>, "a label is an integer or a pointer");
  const unsigned same = __match_any_sync(group.lanes(), label, line), first = same & (0u - same);
  const unsigned leaders = learnml_ballot(group.lanes(), first >> learnml::lane() & 1, line);
  return coalesced_group(same, static_cast<unsigned>(__builtin_popcount(leaders & (first - 1u))),
                         static_cast<unsigned>(__builtin_popcount(leaders)));
}
inline coalesced_group binary_partition(const coalesced_group &group, bool predicate, int line = __builtin_LINE()) {
  const unsigned set = learnml_ballot(group.lanes(), predicate, line);
  if (set == 0 || set == group.lanes()) return coalesced_group(group.lanes());
  return coalesced_group(predicate ? set : group.lanes() & ~set, predicate, 2);
}

#define LEARNML_OPERATION(name, expression)             \
  template <class T>                                    \
  struct name {                                         \
    T operator()(T a, T b) const { return expression; } \
  };
LEARNML_OPERATION(plus, a + b)
LEARNML_OPERATION(less, b < a ? b : a)
LEARNML_OPERATION(greater, a < b ? b : a)
LEARNML_OPERATION(bit_and, (a & b))
LEARNML_OPERATION(bit_or, a | b)
LEARNML_OPERATION(bit_xor, a ^ b)
#undef LEARNML_OPERATION

// So that all lanes get the same bits: a butterfly where there are 2, 4, 8, ... of them, else in the
// order of their ranks.
template <class Group, class T, class F>
T reduce(const Group &group, T value, F combine, int line = __builtin_LINE()) {
  static_assert(std::is_base_of_v<coalesced_group, Group>,
                "reduce takes a tile of at most 32 threads, or a coalesced_group; not a block");
  const unsigned size = group.size(), rank = group.thread_rank();
  if ((size & (size - 1)) == 0) {
    for (unsigned step = size / 2; step; step /= 2)
      value = combine(value, group.shfl(value, static_cast<int>(rank ^ step), line));
    return value;
  }
  T result = group.shfl(value, 0, line);
  for (unsigned other = 1; other < size; other++)
    result = combine(result, group.shfl(value, static_cast<int>(other), line));
  return result;
}

template <class Group, class T, class F = plus<T>>
T inclusive_scan(const Group &group, T value, F combine = {}, int line = __builtin_LINE()) {
  static_assert(std::is_base_of_v<coalesced_group, Group>,
                "a scan takes a tile of at most 32 threads, or a coalesced_group; not a block");
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T other = group.shfl_up(value, step, line);
    if (step <= group.thread_rank()) value = combine(value, other);
  }
  return value;
}
// The first thread gets T{}.
template <class Group, class T, class F = plus<T>>
T exclusive_scan(const Group &group, T value, F combine = {}, int line = __builtin_LINE()) {
  const T before = group.shfl_up(inclusive_scan(group, value, combine, line), 1, line);
  return group.thread_rank() ? before : T{};
}

template <class Group>
void sync(const Group &group, int line = __builtin_LINE()) {
  group.sync(line);
}

#undef LEARNML_NO_GRID_BARRIER

}  // namespace cooperative_groups
