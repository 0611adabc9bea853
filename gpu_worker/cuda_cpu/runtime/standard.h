// cuda::std: types and limits as C++ has them, which a device takes from CCCL and this compiler has itself.
#pragma once

namespace std {

template <class T, unsigned short Largest, unsigned short Smallest, unsigned short Step, unsigned short Infinity,
          unsigned short NotANumber, int Digits>
struct limits_of_sixteen_bits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = Digits, radix = 2;
  static T of(unsigned short bits) { return __builtin_bit_cast(T, bits); }
  static T max() { return of(Largest); }
  static T lowest() { return of(Largest | 0x8000u); }
  static T min() { return of(Smallest); }
  static T epsilon() { return of(Step); }
  static T infinity() { return of(Infinity); }
  static T quiet_NaN() { return of(NotANumber); }
  static T denorm_min() { return of(1); }
};
template <>
struct numeric_limits<__half> : limits_of_sixteen_bits<__half, 0x7bff, 0x0400, 0x1400, 0x7c00, 0x7fff, 11> {};
template <>
struct numeric_limits<__nv_bfloat16>
    : limits_of_sixteen_bits<__nv_bfloat16, 0x7f7f, 0x0080, 0x3c00, 0x7f80, 0x7fff, 8> {};

}  // namespace std

namespace cuda {
namespace std {
using namespace ::std;
template <class T>
using remove_cvref_t = ::std::remove_cv_t<::std::remove_reference_t<T>>;
template <class T>
struct remove_cvref {
  using type = remove_cvref_t<T>;
};
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;
}  // namespace std
}  // namespace cuda
