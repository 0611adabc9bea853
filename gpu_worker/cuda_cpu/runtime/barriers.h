// Barriers, shuffles and votes. Each call passes its line, so that threads which wait at different
// barriers can be told apart.
#pragma once

inline void __syncthreads(int line = __builtin_LINE()) { learnml_barrier(learnml::PLAIN, 0, line); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return learnml_barrier(learnml::COUNT, predicate, line);
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return learnml_barrier(learnml::AND, predicate, line);
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return learnml_barrier(learnml::OR, predicate, line);
}
inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) { learnml_warp_barrier(mask, line); }

namespace learnml {

// A pair of halves has its own copy constructor, but is 4 bytes all the same.
template <class T>
constexpr bool shuffled =
    std::is_trivially_copyable_v<T> || std::is_same_v<T, __half2> || std::is_same_v<T, __nv_bfloat162>;

template <class T>
T exchange(unsigned mask, T value, unsigned source, int line) {
  static_assert(sizeof(T) <= 16 && shuffled<T>, "a shuffle moves up to 16 bytes");
  T result;
  learnml_exchange(mask, &value, &result, sizeof(T), static_cast<int>(source), line);
  return result;
}

}  // namespace learnml

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
  const unsigned segment = learnml::lane() & ~(width - 1u);
  return learnml::exchange(mask, value, segment | (static_cast<unsigned>(source) & (width - 1u)), line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  const unsigned own = learnml::lane();
  return learnml::exchange(mask, value, (own & (width - 1u)) >= delta ? own - delta : own, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  const unsigned own = learnml::lane();
  return learnml::exchange(mask, value, (own & (width - 1u)) + delta < static_cast<unsigned>(width) ? own + delta : own,
                           line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, int line = __builtin_LINE()) {
  const unsigned own = learnml::lane(), other = own ^ static_cast<unsigned>(lane_mask);
  return learnml::exchange(mask, value, other <= (own | (width - 1u)) ? other : own, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return learnml_ballot(mask, predicate, line);
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return learnml_ballot(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return learnml_ballot(mask, !predicate, line) == 0;
}
inline unsigned __activemask(int line = __builtin_LINE()) { return learnml_active_mask(line); }

namespace learnml {

// The lanes of a mask that exist in this block and have not returned.
inline unsigned present(unsigned mask, int line) { return learnml_ballot(mask, 1, line); }

}  // namespace learnml

template <class T>
unsigned __match_any_sync(unsigned mask, T value, int line = __builtin_LINE()) {
  unsigned equal = 0;
  mask = learnml::present(mask, line);
  for (unsigned source = 0; source < 32; source++)
    if (mask >> source & 1 && learnml::exchange(mask, value, source, line) == value) equal |= 1u << source;
  return equal;
}

// All lanes of the mask if their values are equal, else none.
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int *predicate, int line = __builtin_LINE()) {
  mask = learnml::present(mask, line);
  const unsigned equal = __match_any_sync(mask, value, line);
  *predicate = learnml_ballot(mask, equal != mask, line) == 0;
  return *predicate ? mask : 0;
}

namespace learnml {

template <class T, class F>
T reduce_lanes(unsigned mask, T value, F combine, int line) {
  T result = value;
  bool first = true;
  mask = present(mask, line);
  for (unsigned source = 0; source < 32; source++) {
    if (!(mask >> source & 1)) continue;
    const T other = exchange(mask, value, source, line);
    result = first ? other : combine(result, other);
    first = false;
  }
  return result;
}

}  // namespace learnml

#define LEARNML_REDUCE(name, type, expression)                                                  \
  inline type name(unsigned mask, type value, int line = __builtin_LINE()) {                    \
    return learnml::reduce_lanes(mask, value, [](type a, type b) { return expression; }, line); \
  }
LEARNML_REDUCE(__reduce_add_sync, unsigned, a + b)
LEARNML_REDUCE(__reduce_add_sync, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
LEARNML_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
LEARNML_REDUCE(__reduce_min_sync, int, a < b ? a : b)
LEARNML_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
LEARNML_REDUCE(__reduce_max_sync, int, a > b ? a : b)
LEARNML_REDUCE(__reduce_and_sync, unsigned, (a & b))
LEARNML_REDUCE(__reduce_or_sync, unsigned, a | b)
LEARNML_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef LEARNML_REDUCE
