// CUDA's mathematical functions that the C library does not have. The fast ones are as exact here
// as the others: a device's may differ in the last bits.
#pragma once

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / ::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float fdividef(float a, float b) { return a / b; }
inline float sinpif(float x) { return sinf(CUDART_PI_F * x); }
inline float cospif(float x) { return cosf(CUDART_PI_F * x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * CUDART_SQRT_HALF_F); }
inline float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
inline float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
inline float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
inline void sincospif(float x, float *sine, float *cosine) { *sine = sinpif(x), *cosine = cospif(x); }
inline double rcbrt(double x) { return 1.0 / ::cbrt(x); }
inline double rhypot(double a, double b) { return 1.0 / ::hypot(a, b); }
inline double sinpi(double x) { return ::sin(CUDART_PI * x); }
inline double cospi(double x) { return ::cos(CUDART_PI * x); }
inline double normcdf(double x) { return 0.5 * ::erfc(-x * CUDART_SQRT_HALF); }
inline float normf(int count, const float *values) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += static_cast<double>(values[i]) * values[i];
  return static_cast<float>(::sqrt(sum));
}
inline double norm(int count, const double *values) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i] * values[i];
  return ::sqrt(sum);
}
inline float rnormf(int count, const float *values) { return 1.0f / normf(count, values); }
inline double rnorm(int count, const double *values) { return 1.0 / norm(count, values); }

#define LEARNML_FLOAT1(name, expression) \
  inline float name(float x) { return expression; }
LEARNML_FLOAT1(__expf, expf(x))
LEARNML_FLOAT1(__exp10f, exp10f(x))
LEARNML_FLOAT1(__logf, logf(x))
LEARNML_FLOAT1(__log2f, log2f(x))
LEARNML_FLOAT1(__log10f, log10f(x))
LEARNML_FLOAT1(__sinf, sinf(x))
LEARNML_FLOAT1(__cosf, cosf(x))
LEARNML_FLOAT1(__tanf, tanf(x))
LEARNML_FLOAT1(__tanhf, tanhf(x))
LEARNML_FLOAT1(__saturatef, x != x ? 0.0f : fminf(fmaxf(x, 0.0f), 1.0f))
LEARNML_FLOAT1(__fsqrt_rn, sqrtf(x))
LEARNML_FLOAT1(__frsqrt_rn, static_cast<float>(1.0 / ::sqrt(static_cast<double>(x))))
LEARNML_FLOAT1(__frcp_rn, 1.0f / x)
#undef LEARNML_FLOAT1
#define LEARNML_FLOAT2(name, expression) \
  inline float name(float a, float b) { return expression; }
LEARNML_FLOAT2(__fdividef, a / b)
LEARNML_FLOAT2(__powf, powf(a, b))
LEARNML_FLOAT2(__fadd_rn, a + b)
LEARNML_FLOAT2(__fsub_rn, a - b)
LEARNML_FLOAT2(__fmul_rn, (a * b))
LEARNML_FLOAT2(__fdiv_rn, a / b)
#undef LEARNML_FLOAT2
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return ::sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
inline void __sincosf(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }

// The same names for both widths, as in device code.
#define LEARNML_BOTH(name) using std::name;
LEARNML_BOTH(abs)
LEARNML_BOTH(fabs)
LEARNML_BOTH(sqrt)
LEARNML_BOTH(exp)
LEARNML_BOTH(log)
LEARNML_BOTH(pow)
LEARNML_BOTH(sin)
LEARNML_BOTH(cos)
LEARNML_BOTH(tanh)
LEARNML_BOTH(floor)
LEARNML_BOTH(ceil)
LEARNML_BOTH(fma)
LEARNML_BOTH(isnan)
LEARNML_BOTH(isinf)
LEARNML_BOTH(isfinite)
LEARNML_BOTH(signbit)
#undef LEARNML_BOTH

namespace learnml {

template <class A, class B>
using Numbers = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;

}  // namespace learnml

template <class A, class B>
learnml::Numbers<A, B> max(A first, B second) {
  using T = std::common_type_t<A, B>;
  const T a = first, b = second;
  if constexpr (std::is_floating_point_v<T>) return std::fmax(a, b);
  else return a > b ? a : b;
}
template <class A, class B>
learnml::Numbers<A, B> min(A first, B second) {
  using T = std::common_type_t<A, B>;
  const T a = first, b = second;
  if constexpr (std::is_floating_point_v<T>) return std::fmin(a, b);
  else return a < b ? a : b;
}

namespace learnml {

template <class To, class From>
To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}

// NaN becomes 0 where neither side has 64 bits, else the highest bit alone.
template <class To, class From>
To to_integer(From x) {
  if (x != x) return sizeof(To) == 8 || sizeof(From) == 8 ? static_cast<To>(1ull << (8 * sizeof(To) - 1)) : To(0);
  // On a device, a number out of range becomes the nearest one in range.
  constexpr auto low = std::numeric_limits<To>::min();
  constexpr auto high = std::numeric_limits<To>::max();
  if (x <= static_cast<From>(low)) return low;
  if (x >= static_cast<From>(high)) return high;
  return static_cast<To>(x);
}

}  // namespace learnml

inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a > b ? a : b; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }

inline int __float_as_int(float x) { return learnml::bits_as<int>(x); }
inline unsigned __float_as_uint(float x) { return learnml::bits_as<unsigned>(x); }
inline float __int_as_float(int x) { return learnml::bits_as<float>(x); }
inline float __uint_as_float(unsigned x) { return learnml::bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return learnml::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return learnml::bits_as<double>(x); }

#define LEARNML_ROUND(From, To, name)                                                             \
  inline To __##From##2##name##_rn(From x) { return learnml::to_integer<To>(std::nearbyint(x)); } \
  inline To __##From##2##name##_rz(From x) { return learnml::to_integer<To>(std::trunc(x)); }     \
  inline To __##From##2##name##_rd(From x) { return learnml::to_integer<To>(std::floor(x)); }     \
  inline To __##From##2##name##_ru(From x) { return learnml::to_integer<To>(std::ceil(x)); }
LEARNML_ROUND(float, int, int)
LEARNML_ROUND(float, unsigned, uint)
LEARNML_ROUND(float, long long, ll)
LEARNML_ROUND(float, unsigned long long, ull)
LEARNML_ROUND(double, int, int)
LEARNML_ROUND(double, unsigned, uint)
LEARNML_ROUND(double, long long, ll)
LEARNML_ROUND(double, unsigned long long, ull)
#undef LEARNML_ROUND
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; i++) result |= (x >> i & 1u) << (31 - i);
  return result;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline int __double2hiint(double x) { return static_cast<int>(learnml::bits_as<unsigned long long>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(learnml::bits_as<unsigned long long>(x)); }
inline double __hiloint2double(int high, int low) {
  return learnml::bits_as<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                                  static_cast<unsigned>(low));
}
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
// Four products of bytes, added to a sum that wraps around.
inline int __dp4a(int a, int b, int sum) {
  auto total = static_cast<unsigned>(sum);
  for (int i = 0; i < 32; i += 8)
    total += static_cast<unsigned>(static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i));
  return static_cast<int>(total);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xffu) * (b >> i & 0xffu);
  return sum;
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline unsigned __sad(int a, int b, unsigned sum) {
  return sum + (a > b ? static_cast<unsigned>(a) - b : static_cast<unsigned>(b) - a);
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a > b ? a - b : b - a); }
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a << 8 >> 8) * static_cast<unsigned>(b << 8 >> 8));
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
// As these two, but shifts of more than 32 bits count as 32.
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) result |= static_cast<unsigned>(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}
