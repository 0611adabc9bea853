// Loads and stores that say how the caches should treat them. Here they only count as accesses.
#pragma once

namespace learnml {

template <class T>
__attribute__((no_sanitize("thread"))) T load(const T *address, int line) {
  learnml_read(address, sizeof(T), alignof(T), line);
  T value;
  __builtin_memcpy(&value, address, sizeof value);
  return value;
}
template <class T>
__attribute__((no_sanitize("thread"))) void store(T *address, T value, int line) {
  learnml_write(address, sizeof(T), alignof(T), line);
  __builtin_memcpy(address, &value, sizeof value);
}

}  // namespace learnml

#define LEARNML_LOAD(name) \
  template <class T> T name(const T *address, int line = __builtin_LINE()) { return learnml::load(address, line); }
LEARNML_LOAD(__ldg)
LEARNML_LOAD(__ldca)
LEARNML_LOAD(__ldcg)
LEARNML_LOAD(__ldcs)
LEARNML_LOAD(__ldcv)
LEARNML_LOAD(__ldlu)
#undef LEARNML_LOAD
#define LEARNML_STORE(name)                                                         \
  template <class T>                                                                \
  void name(T *address, std::common_type_t<T> value, int line = __builtin_LINE()) { \
    learnml::store(address, value, line);                                           \
  }
LEARNML_STORE(__stwb)
LEARNML_STORE(__stcg)
LEARNML_STORE(__stcs)
LEARNML_STORE(__stwt)
#undef LEARNML_STORE
inline void __prefetch_global_l1(const void *) {}
inline void __prefetch_global_l2(const void *) {}
