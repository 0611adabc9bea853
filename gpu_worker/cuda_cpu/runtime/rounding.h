// Arithmetic and conversions with a rounding mode: down (rd), up (ru), towards zero (rz).
// The processor is set to that mode for the duration of the operation.
#pragma once
#include <cfenv>

namespace learnml {

// The volatile copies keep the compiler from computing before the mode is set, or at compile time.
template <class T, class F, class... From>
__attribute__((no_sanitize("thread"))) T rounded(int mode, F compute, From... values) {
  const int before = fegetround();
  fesetround(mode);
  volatile T result = compute(static_cast<const volatile From &>(values)...);
  fesetround(before);
  return result;
}

}  // namespace learnml

#define LEARNML_MODES(define, ...) \
  define(rd, FE_DOWNWARD, __VA_ARGS__) define(ru, FE_UPWARD, __VA_ARGS__) define(rz, FE_TOWARDZERO, __VA_ARGS__)
#define LEARNML_DIRECTED(letters, mode, T, add, sub, mul, div, fused, reciprocal, root, fma, sqrt)     \
  inline T add##_##letters(T a, T b) {                                                                 \
    return learnml::rounded<T>(mode, [](auto &x, auto &y) { return x + y; }, a, b);                    \
  }                                                                                                    \
  inline T sub##_##letters(T a, T b) {                                                                 \
    return learnml::rounded<T>(mode, [](auto &x, auto &y) { return x - y; }, a, b);                    \
  }                                                                                                    \
  inline T mul##_##letters(T a, T b) {                                                                 \
    return learnml::rounded<T>(mode, [](auto &x, auto &y) { return x * y; }, a, b);                    \
  }                                                                                                    \
  inline T div##_##letters(T a, T b) {                                                                 \
    return learnml::rounded<T>(mode, [](auto &x, auto &y) { return x / y; }, a, b);                    \
  }                                                                                                    \
  inline T fused##_##letters(T a, T b, T c) {                                                          \
    return learnml::rounded<T>(mode, [](auto &x, auto &y, auto &z) { return fma(x, y, z); }, a, b, c); \
  }                                                                                                    \
  inline T reciprocal##_##letters(T a) { return div##_##letters(1, a); }                               \
  inline T root##_##letters(T a) {                                                                     \
    return learnml::rounded<T>(mode, [](auto &x) { return sqrt(x); }, a);                              \
  }
LEARNML_MODES(LEARNML_DIRECTED, float, __fadd, __fsub, __fmul, __fdiv, __fmaf, __frcp, __fsqrt, fmaf, sqrtf)
LEARNML_MODES(LEARNML_DIRECTED, double, __dadd, __dsub, __dmul, __ddiv, __fma, __drcp, __dsqrt, ::fma, ::sqrt)
#undef LEARNML_DIRECTED
inline double __drcp_rn(double x) { return 1.0 / x; }

// Numbers into types that do not hold all of them.
#define LEARNML_NARROWED(letters, mode, To, to, From, from)                           \
  inline To __##from##2##to##_##letters(From a) {                                     \
    return learnml::rounded<To>(mode, [](auto &x) { return static_cast<To>(x); }, a); \
  }
LEARNML_MODES(LEARNML_NARROWED, float, float, double, double)
LEARNML_MODES(LEARNML_NARROWED, float, float, int, int)
LEARNML_MODES(LEARNML_NARROWED, float, float, unsigned, uint)
LEARNML_MODES(LEARNML_NARROWED, float, float, long long, ll)
LEARNML_MODES(LEARNML_NARROWED, float, float, unsigned long long, ull)
LEARNML_MODES(LEARNML_NARROWED, double, double, long long, ll)
LEARNML_MODES(LEARNML_NARROWED, double, double, unsigned long long, ull)
#undef LEARNML_NARROWED
#undef LEARNML_MODES
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
