// Atomics: threads only switch at barriers, so each of these is atomic as it is.
#pragma once

namespace learnml {

// Byte by byte: copying a structure calls hooks, which would count one more access.
template <class T>
__attribute__((no_sanitize("thread"))) T value_at(const T *address) {
  alignas(T) unsigned char bytes[sizeof(T)];
  __builtin_memcpy(bytes, address, sizeof(T));
  return *reinterpret_cast<T *>(bytes);
}
template <class T>
__attribute__((no_sanitize("thread"))) void set_value_at(T *address, T value) {
  __builtin_memcpy(static_cast<void *>(address), &value, sizeof(T));
}

template <class T, class F>
__attribute__((no_sanitize("thread"))) T update(T *address, F change, int line) {
  learnml_atomic(address, sizeof(T), line);
  const T before = value_at(address);
  set_value_at<T>(address, change(before));
  return before;
}

template <class T>
struct Same {
  using type = T;
};
template <class T>
using Given = typename Same<T>::type;  // not deduced: atomicAdd(&float_sum, 1) is right

inline double wide(float x) { return x; }
inline double wide(double x) { return x; }

// The digits of a floating-point type's significand; 0 for vectors of them.
template <class T>
constexpr int SIGNIFICAND = 0;
template <>
inline constexpr int SIGNIFICAND<double> = 53;
template <>
inline constexpr int SIGNIFICAND<float> = 24;
template <>
inline constexpr int SIGNIFICAND<__half> = 11;
template <>
inline constexpr int SIGNIFICAND<__nv_bfloat16> = 8;

template <class T>
__attribute__((no_sanitize("thread"))) T add(T *address, T value, int line) {
  learnml_atomic(address, sizeof(T), line);
  const T before = value_at(address);
  if constexpr (SIGNIFICAND<T> > 0) learnml_sum(address, sizeof(T), wide(before), wide(value), SIGNIFICAND<T>, line);
  else if constexpr (!std::is_integral_v<T>) learnml_sum(address, sizeof(T), 1, 1, 0, line);
  set_value_at<T>(address, sum(before, value));
  return before;
}

}  // namespace learnml

#define LEARNML_SCOPES(name)                                                          \
  template <class T>                                                                  \
  T name##_block(T *address, learnml::Given<T> value, int line = __builtin_LINE()) {  \
    return name(address, value, line);                                                \
  }                                                                                   \
  template <class T>                                                                  \
  T name##_system(T *address, learnml::Given<T> value, int line = __builtin_LINE()) { \
    return name(address, value, line);                                                \
  }
#define LEARNML_ATOMIC(name, expression)                                                               \
  template <class T>                                                                                   \
  T name(T *address, learnml::Given<T> value, int line = __builtin_LINE()) {                           \
    return learnml::update(address, [value](T old) -> T { return static_cast<T>(expression); }, line); \
  }                                                                                                    \
  LEARNML_SCOPES(name)
template <class T>
T atomicAdd(T *address, learnml::Given<T> value, int line = __builtin_LINE()) {
  return learnml::add(address, value, line);
}
LEARNML_SCOPES(atomicAdd)
LEARNML_ATOMIC(atomicSub, old - value)
LEARNML_ATOMIC(atomicExch, (static_cast<void>(old), value))
LEARNML_ATOMIC(atomicMin, value < old ? value : old)
LEARNML_ATOMIC(atomicMax, old < value ? value : old)
LEARNML_ATOMIC(atomicAnd, (old & value))
LEARNML_ATOMIC(atomicOr, old | value)
LEARNML_ATOMIC(atomicXor, old ^ value)
LEARNML_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
LEARNML_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef LEARNML_ATOMIC
#undef LEARNML_SCOPES

template <class T>
T atomicCAS(T *address, learnml::Given<T> expected, learnml::Given<T> value, int line = __builtin_LINE()) {
  learnml_compare(address);
  return learnml::update(address, [=](T old) -> T { return old == expected ? value : old; }, line);
}
#define LEARNML_SCOPE(name)                                                                              \
  template <class T>                                                                                     \
  T name(T *address, learnml::Given<T> expected, learnml::Given<T> value, int line = __builtin_LINE()) { \
    return atomicCAS(address, expected, value, line);                                                    \
  }
LEARNML_SCOPE(atomicCAS_block)
LEARNML_SCOPE(atomicCAS_system)
#undef LEARNML_SCOPE
