// How the executor calls a kernel: with an array of pointers to its arguments, as a driver does,
// and what it knows about the parameters to recognise a wrong argument.
#pragma once

namespace learnml {

template <class T>
constexpr uint32_t kind_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_pointer_v<U>) return POINTER;
  else if constexpr (std::is_same_v<U, bool>) return BOOLEAN;
  else if constexpr (std::is_same_v<U, __half> || std::is_same_v<U, __nv_bfloat16>) return FLOATING;
  else if constexpr (std::is_floating_point_v<U>) return FLOATING;
  else if constexpr (std::is_integral_v<U>) return std::is_signed_v<U> ? SIGNED : UNSIGNED;
  else return OTHER;
}

template <class T>
constexpr uint32_t size_of() {
  if constexpr (std::is_void_v<T> || std::is_function_v<T>) return 0;
  else return sizeof(T);
}

template <class T>
using Element = std::remove_cv_t<std::remove_all_extents_t<T>>;

// Structures are accessed by their members, mostly of 4 bytes.
template <class T>
constexpr uint32_t granule_of() {
  if constexpr (kind_of<T>() == OTHER) return alignof(T) < 4 ? alignof(T) : 4;
  else return sizeof(T);
}

// bfloat16 and float16 have one size: bfloat16 says so by a bit of its own.
template <class T>
constexpr uint32_t full_kind() {
  return kind_of<T>() | (std::is_same_v<std::remove_cv_t<T>, __nv_bfloat16> ? 0x100u : 0u);
}

template <class T>
constexpr Parameter describe() {
  using Pointee = std::remove_pointer_t<T>;
  Parameter parameter = {full_kind<T>(), size_of<T>(), 0, 0, 0};
  if constexpr (std::is_pointer_v<T>) {
    parameter.pointee_kind = full_kind<Pointee>();
    parameter.pointee_size = size_of<Pointee>();
    parameter.pointee_const = std::is_const_v<Pointee>;
  }
  return parameter;
}

template <auto Kernel>
struct Entry;

template <class... A, void (*Kernel)(A...)>
struct Entry<Kernel> {
  static constexpr Parameter parameters[sizeof...(A) + 1] = {describe<std::remove_const_t<A>>()..., {}};

  template <size_t... I>
  __attribute__((no_sanitize("thread"))) static void unpack(void **arguments, std::index_sequence<I...>) {
    Kernel(read<std::decay_t<A>>(arguments[I])...);
  }
  // A driver copies as many bytes as the parameter has, no matter what was passed.
  template <class T>
  __attribute__((no_sanitize("thread"))) static T read(const void *argument) {
    alignas(T) unsigned char bytes[sizeof(T)];
    memcpy(bytes, argument, sizeof(T));
    return *reinterpret_cast<T *>(bytes);
  }
  __attribute__((no_sanitize("thread"))) static void call(void **arguments) {
    unpack(arguments, std::index_sequence_for<A...>{});
  }
  static KernelEntry named(const char *name, const char *text, int64_t most_threads, uint32_t first, uint32_t last) {
    return {name, &call,        parameters, sizeof...(A), reinterpret_cast<void (*)()>(Kernel),
            text, most_threads, first,      last};
  }
};

}  // namespace learnml

// Each is used once, by the executor: a second one is a name that is there already.
#define LEARNML_DYNAMIC_SHARED learnml::dynamic_shared
#define LEARNML_ENTRIES extern "C" __attribute__((visibility("default"))) const learnml::KernelEntry learnml_kernels[]
// What is offered is named in a function, of the number `place`, beside it: from outside of its
// namespace its name may be one of the C library's as well, such as gamma.
#define LEARNML_ENTRY(place, kernel, name, parameters, most_threads, first, last)                                 \
  inline learnml::KernelEntry learnml_entry_##place() {                                                           \
    return learnml::Entry<&LEARNML_BARE kernel>::named(name, parameters, LEARNML_BARE most_threads, first, last); \
  }
#define LEARNML_BARE(...) __VA_ARGS__
#define LEARNML_VARIABLES extern "C" __attribute__((visibility("default"))) const learnml::GlobalEntry learnml_globals[]
#define LEARNML_VARIABLE(place, variable, name, constant)                           \
  inline learnml::GlobalEntry learnml_variable_##place() {                          \
    return {name,                                                                   \
            const_cast<void *>(reinterpret_cast<const volatile void *>(&variable)), \
            sizeof variable,                                                        \
            sizeof(learnml::Element<decltype(variable)>),                           \
            learnml::granule_of<learnml::Element<decltype(variable)>>(),            \
            constant};                                                              \
  }
