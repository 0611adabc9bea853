// Atomics: threads give way to each other at barriers only, so each is whole by itself.
#pragma once

namespace learnml {

template <class T, class F>
__attribute__((no_sanitize("thread"))) T update(T *address, F change, int line) {
  constexpr bool inexact = !std::is_integral_v<T>;
  learnml_atomic(address, sizeof(T), inexact, line);
  const T before = *address;
  *address = change(before);
  return before;
}

template <class T>
struct Same {
  using type = T;
};
template <class T>
using Given = typename Same<T>::type;  // not deduced: atomicAdd(&float_sum, 1) is right

}  // namespace learnml

#define LEARNML_ATOMIC(name, expression)                                                          \
  template <class T>                                                                              \
  T name(T *address, learnml::Given<T> value, int line = __builtin_LINE()) {                      \
    return learnml::update(address, [value](T old) -> T { return static_cast<T>(expression); }, line); \
  }                                                                                               \
  template <class T>                                                                              \
  T name##_block(T *address, learnml::Given<T> value, int line = __builtin_LINE()) {              \
    return name(address, value, line);                                                            \
  }                                                                                               \
  template <class T>                                                                              \
  T name##_system(T *address, learnml::Given<T> value, int line = __builtin_LINE()) {             \
    return name(address, value, line);                                                            \
  }
LEARNML_ATOMIC(atomicAdd, learnml::sum(old, value))
LEARNML_ATOMIC(atomicSub, old - value)
LEARNML_ATOMIC(atomicExch, (static_cast<void>(old), value))
LEARNML_ATOMIC(atomicMin, value < old ? value : old)
LEARNML_ATOMIC(atomicMax, old < value ? value : old)
LEARNML_ATOMIC(atomicAnd, old & value)
LEARNML_ATOMIC(atomicOr, old | value)
LEARNML_ATOMIC(atomicXor, old ^ value)
LEARNML_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
LEARNML_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef LEARNML_ATOMIC

template <class T>
T atomicCAS(T *address, learnml::Given<T> expected, learnml::Given<T> value, int line = __builtin_LINE()) {
  return learnml::update(address, [=](T old) -> T { return old == expected ? value : old; }, line);
}
