// memcpy and the like, which would bypass the hooks. A copy of a single number stays an access that the
// compiler hooks itself; assigning a structure calls hooks, whatever its size.
#pragma once

#define LEARNML_COPY(name, with)                                                                            \
  __attribute__((always_inline)) inline void *learnml_##name(void *to, const void *from, size_t bytes,      \
                                                             int line = __builtin_LINE()) {                 \
    if (__builtin_constant_p(bytes) && bytes <= 16 && !(bytes & (bytes - 1))) return with(to, from, bytes); \
    return learnml_copy(to, from, bytes, line);                                                             \
  }
LEARNML_COPY(memcpy, __builtin_memcpy)
LEARNML_COPY(memmove, __builtin_memmove)
#undef LEARNML_COPY
__attribute__((always_inline)) inline void *learnml_memset(void *to, int value, size_t bytes,
                                                           int line = __builtin_LINE()) {
  return learnml_fill(to, value, bytes, line);
}
namespace std {
using ::learnml_memcpy;
using ::learnml_memmove;
using ::learnml_memset;
}  // namespace std
