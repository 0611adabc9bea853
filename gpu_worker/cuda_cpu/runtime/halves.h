// half and bfloat16: NVIDIA's own headers give the types, the conversions and the arithmetic. Here
// is what those headers keep for devices: operators, fused products, functions of one number.
//
// Every sum is reported to the runtime, which notices long chains of them: sums that should have
// been kept in float32.
#pragma once

namespace learnml {

template <class T>
uint32_t bits_of(T value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

#define LEARNML_INLINE __attribute__((always_inline)) inline

template <class T>
LEARNML_INLINE T watched(T result, T left, T right, int line) {
  learnml_half_sum(bits_of(result), bits_of(left), bits_of(right), line);
  return result;
}
// A sum stays a call, of plain numbers: where its steps are made a part of the kernel, they stand
// between the kernel's lines, and the line of the operator is no longer the nearest one before.
template <class T>
__attribute__((noinline)) uint32_t sum_of_bits(uint32_t left, uint32_t right) {
  T a, b;
  memcpy(&a, &left, sizeof a);
  memcpy(&b, &right, sizeof b);
  if constexpr (sizeof(T) == 2) return bits_of(__hadd(a, b));
  else return bits_of(__hadd2(a, b));
}
template <class T>
LEARNML_INLINE T sum_of(T a, T b) {
  const uint32_t bits = sum_of_bits<T>(bits_of(a), bits_of(b));
  T result;
  memcpy(&result, &bits, sizeof result);
  return result;
}
// Calls carry their line. Operators cannot: theirs, 0, is found by the address of the code.
template <class T>
LEARNML_INLINE T watched_add(T a, T b, int line = __builtin_LINE()) {
  return watched(sum_of(a, b), a, b, line);
}
template <class T>
LEARNML_INLINE T watched_add2(T a, T b, int line = __builtin_LINE()) {
  return watched(sum_of(a, b), a, b, line);
}
// One rounding: the product of two such numbers and most sums with it are exact in float64.
LEARNML_INLINE __half fused(__half a, __half b, __half c) {
  return __double2half(static_cast<double>(__half2float(a)) * __half2float(b) + __half2float(c));
}
LEARNML_INLINE __nv_bfloat16 fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __double2bfloat16(static_cast<double>(__bfloat162float(a)) * __bfloat162float(b) + __bfloat162float(c));
}
template <class T>
LEARNML_INLINE T watched_fma(T a, T b, T c, int line = __builtin_LINE()) {
  return watched(fused(a, b, c), c, c, line);
}
template <class T>
LEARNML_INLINE T watched_fma2(T a, T b, T c, int line = __builtin_LINE()) {
  T result;
  result.x = fused(a.x, b.x, c.x);
  result.y = fused(a.y, b.y, c.y);
  return watched(result, c, c, line);
}

template <class T>
T sum(T old, T value) {
  return static_cast<T>(old + value);
}

LEARNML_INLINE float wide(__half x) { return __half2float(x); }
LEARNML_INLINE float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T>
T narrow(float x);
template <>
LEARNML_INLINE __half narrow<__half>(float x) {
  return __float2half_rn(x);
}
template <>
LEARNML_INLINE __nv_bfloat16 narrow<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

}  // namespace learnml

#define LEARNML_OPERATORS(T)                                                            \
  LEARNML_INLINE T operator+(T a, T b) { return learnml::watched_add(a, b, 0); }        \
  LEARNML_INLINE T operator-(T a, T b) { return __hsub(a, b); }                         \
  LEARNML_INLINE T operator*(T a, T b) { return __hmul(a, b); }                         \
  LEARNML_INLINE T operator/(T a, T b) { return __hdiv(a, b); }                         \
  LEARNML_INLINE T &operator+=(T &a, T b) { return a = learnml::watched_add(a, b, 0); } \
  LEARNML_INLINE T &operator-=(T &a, T b) { return a = __hsub(a, b); }                  \
  LEARNML_INLINE T &operator*=(T &a, T b) { return a = __hmul(a, b); }                  \
  LEARNML_INLINE T &operator/=(T &a, T b) { return a = __hdiv(a, b); }                  \
  LEARNML_INLINE T operator+(T a) { return a; }                                         \
  LEARNML_INLINE T operator-(T a) { return __hneg(a); }                                 \
  LEARNML_INLINE bool operator==(T a, T b) { return __heq(a, b); }                      \
  LEARNML_INLINE bool operator!=(T a, T b) { return __hneu(a, b); }                     \
  LEARNML_INLINE bool operator<(T a, T b) { return __hlt(a, b); }                       \
  LEARNML_INLINE bool operator>(T a, T b) { return __hgt(a, b); }                       \
  LEARNML_INLINE bool operator<=(T a, T b) { return __hle(a, b); }                      \
  LEARNML_INLINE bool operator>=(T a, T b) { return __hge(a, b); }
LEARNML_OPERATORS(__half)
LEARNML_OPERATORS(__nv_bfloat16)
#undef LEARNML_OPERATORS

#define LEARNML_OPERATORS(T)                                                             \
  LEARNML_INLINE T operator+(T a, T b) { return learnml::watched_add2(a, b, 0); }        \
  LEARNML_INLINE T operator-(T a, T b) { return __hsub2(a, b); }                         \
  LEARNML_INLINE T operator*(T a, T b) { return __hmul2(a, b); }                         \
  LEARNML_INLINE T operator/(T a, T b) { return __h2div(a, b); }                         \
  LEARNML_INLINE T &operator+=(T &a, T b) { return a = learnml::watched_add2(a, b, 0); } \
  LEARNML_INLINE T &operator-=(T &a, T b) { return a = __hsub2(a, b); }                  \
  LEARNML_INLINE T &operator*=(T &a, T b) { return a = __hmul2(a, b); }                  \
  LEARNML_INLINE T operator-(T a) { return __hneg2(a); }
LEARNML_OPERATORS(__half2)
LEARNML_OPERATORS(__nv_bfloat162)
#undef LEARNML_OPERATORS

#define LEARNML_FUNCTION(name, expression)                                    \
  inline __half h##name(__half a) {                                           \
    const float x = learnml::wide(a);                                         \
    return learnml::narrow<__half>(expression);                               \
  }                                                                           \
  inline __nv_bfloat16 h##name(__nv_bfloat16 a) {                             \
    const float x = learnml::wide(a);                                         \
    return learnml::narrow<__nv_bfloat16>(expression);                        \
  }                                                                           \
  inline __half2 h2##name(__half2 a) { return {h##name(a.x), h##name(a.y)}; } \
  inline __nv_bfloat162 h2##name(__nv_bfloat162 a) { return {h##name(a.x), h##name(a.y)}; }
LEARNML_FUNCTION(ceil, ceilf(x))
LEARNML_FUNCTION(cos, cosf(x))
LEARNML_FUNCTION(exp, expf(x))
LEARNML_FUNCTION(exp10, exp10f(x))
LEARNML_FUNCTION(exp2, exp2f(x))
LEARNML_FUNCTION(floor, floorf(x))
LEARNML_FUNCTION(log, logf(x))
LEARNML_FUNCTION(log10, log10f(x))
LEARNML_FUNCTION(log2, log2f(x))
LEARNML_FUNCTION(rcp, 1.0f / x)
LEARNML_FUNCTION(rint, rintf(x))
LEARNML_FUNCTION(rsqrt, rsqrtf(x))
LEARNML_FUNCTION(sin, sinf(x))
LEARNML_FUNCTION(sqrt, sqrtf(x))
LEARNML_FUNCTION(tanh, tanhf(x))
LEARNML_FUNCTION(trunc, truncf(x))
#undef LEARNML_FUNCTION

#define LEARNML_WAYS(T, name, wide, To, to)                                  \
  inline To __##name##2##to##_rn(T a) { return __float2##to##_rn(wide(a)); } \
  inline To __##name##2##to##_rd(T a) { return __float2##to##_rd(wide(a)); } \
  inline To __##name##2##to##_ru(T a) { return __float2##to##_ru(wide(a)); }
#define LEARNML_ROUND(T, name, wide)          \
  LEARNML_WAYS(T, name, wide, int, int)       \
  LEARNML_WAYS(T, name, wide, unsigned, uint) \
  LEARNML_WAYS(T, name, wide, long long, ll)  \
  LEARNML_WAYS(T, name, wide, unsigned long long, ull)
LEARNML_ROUND(__half, half, __half2float)
LEARNML_ROUND(__nv_bfloat16, bfloat16, __bfloat162float)
#undef LEARNML_WAYS
#undef LEARNML_ROUND

namespace learnml {

template <class T>
LEARNML_INLINE T saturated(T value) {
  return narrow<T>(__saturatef(wide(value)));
}
template <class T>
LEARNML_INLINE T rectified(T value) {
  return narrow<T>(fmaxf(wide(value), 0.0f));
}

}  // namespace learnml

template <class T>
T __hfma_sat(T a, T b, T c) {
  return learnml::saturated(learnml::watched_fma(a, b, c));
}
template <class T>
T __hfma_relu(T a, T b, T c) {
  return learnml::rectified(learnml::watched_fma(a, b, c));
}
template <class T>
T __hfma2_sat(T a, T b, T c) {
  const T result = learnml::watched_fma2(a, b, c);
  return {learnml::saturated(result.x), learnml::saturated(result.y)};
}
template <class T>
T __hfma2_relu(T a, T b, T c) {
  const T result = learnml::watched_fma2(a, b, c);
  return {learnml::rectified(result.x), learnml::rectified(result.y)};
}

#define __hadd learnml::watched_add
#define __hadd2 learnml::watched_add2
#define __hfma learnml::watched_fma
#define __hfma2 learnml::watched_fma2
