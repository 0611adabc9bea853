"""Which kernels a source offers, and what is reported if it does not compile."""

from __future__ import annotations

import pytest

from gpu_worker.cuda_cpu import CompileError, compile_source
from gpu_worker.cuda_cpu.frontend import headers, rules
from gpu_worker.cuda_cpu.toolchain import nvrtc
from gpu_worker.cupy_cpu.executor import Module
from gpu_worker.tests.cuda.executor import KERNEL, refused

LEFT_OUT = """#if 0
__constant__ float gone[1 << 20];
extern "C" __global__ __launch_bounds__(GONE) void gone_too(float *y) { y[0] = gone[0]; }
#elif defined WIDE
__constant__ float c[8];
extern "C" __global__ void k(double *y) { y[0] = c[7]; }
#else
__constant__ float c[4];
extern "C" __global__ void k(float *y) { y[0] = c[3]; }
#endif
"""

BUILT_IN = """extern "C" __global__ void k(float *a, size_t n) {
    memset(a, 0, 4);
    memcpy(a, a + 1, 4);
    assert(n);
    printf("%f", a[0]);
    a[0] = sqrtf(a[1]) + rsqrtf(a[2]) + expf(a[3]) + fmaxf(a[4], 3.402823466e+38f);
    a[1] = min(a[5], a[6]) + max(1, 2);
}
"""
"""What a message promises instead of a header of the C library."""


@pytest.mark.parametrize(("options", "size"), [((), 16), (("-DWIDE",), 32)])
def test_code_excluded_by_a_condition_is_not_offered(options: tuple[str, ...], size: int) -> None:
    module = Module(compile_source(LEFT_OUT, options).library)

    assert module.kernels == ("k",)
    assert module.global_address("c")[1] == size
    assert [variable.name for variable in module.variables] == ["c"]
    assert module.kernel("k").parameters[0].pointee_size == (8 if options else 4)


def test_a_source_without_any_code_left_says_so() -> None:
    assert "left out by #if" in refused(
        "#ifdef NEVER\n" + KERNEL.replace("VALUE", "1") + "#endif\n"
    )
    with pytest.raises(CompileError, match="line 4: .*'b' was not declared"):
        compile_source(
            "#if 0\n" + KERNEL.replace("VALUE", "a") + "#endif\n" + KERNEL.replace("VALUE", "b")
        )


@pytest.mark.parametrize("name", ['f"', "f<1>;\n#include", "f, 0), evil(", "g", "f}", "f\\", "(f)"])
def test_name_expressions_are_names(name: str) -> None:
    source = KERNEL.replace("VALUE", "1").replace('extern "C"', "template <int N>")

    refused(source, names=(name,))


def test_errors_come_with_the_line_of_the_source() -> None:
    source = "// first\n\n#define N 4\n__device__ int g(int a) {\n  return a + b;\n}\n"
    with pytest.raises(CompileError) as caught:
        compile_source(source + KERNEL.replace("VALUE", "g(N) +"))

    found = [(d.kind, d.line) for d in caught.value.diagnostics]
    assert found == [("compile-error", 5), ("compile-error", 7)]
    assert "'b' was not declared" in caught.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("int x;\n", "no kernel"),
        ("__global__ void f(int *p) { p[0] = 1; }\n", 'extern "C"'),
        ('extern "C" __global__ void f(int *p) { threadIdx.x = 1; }\n', "cannot be assigned"),
        ('#include <cub/cub.cuh>\n' + KERNEL, "yours to write"),
        ('#include <cuda/std/numeric>\n' + KERNEL, "there are types and limits: cuda/std/array, "),
        ('#include <cuda/pipeline>\n' + KERNEL, "not offered here. Of copies that go on beside"),
        ('#include "my_kernels.h"\n' + KERNEL, "these headers only: builtin_types.h, "),
        ('#include <stdio.h>\n' + KERNEL, "Take the line out: printf is built in."),
        ('# include <cmath>\n' + KERNEL, "rsqrtf, expf, fmaxf and their kin are built in"),
        ('#include <stdint.h> // int64_t\n' + KERNEL, "write int, unsigned or long long"),
        ('#include <cuda.h>\n' + KERNEL, "CuPy does that"),
        ('/* open\n' + KERNEL, "never ends"),
        ("__device__ __half g;\n" + KERNEL, "#include <cuda_fp16.h>"),
        ('extern "C" __global__ void f(int *p) { p[0] = g(); }\n int g();\n', "'g' was not declared"),
        ("#include <cooperative_groups.h>\n" + KERNEL.replace("VALUE", "1").replace(
            "{", "{ cooperative_groups::sync(cooperative_groups::this_grid());"), "a second one"),
    ],
)  # fmt: skip
def test_messages_say_what_to_do(source: str, says: str) -> None:
    assert says in refused(source)


def test_the_headers_are_those_that_a_device_has(monkeypatch: pytest.MonkeyPatch) -> None:
    included = "".join(f"#include <{name}>\n" for name in sorted(headers.TAKEN))
    assert nvrtc.compile_for(included + BUILT_IN, "sm_90").keys() == {"k"}
    # cuda.h is there, and includes what is not. The rules refuse the question.
    questions = "".join(
        f"#if __has_include(<{name}>)\n#error {name}\n#endif\n"
        for name in headers.LEFT_OUT.keys() - {"cuda.h"}
    )
    monkeypatch.setattr(rules, "check", lambda source, before=(): None)
    assert nvrtc.compile_for(questions + BUILT_IN, "sm_90").keys() == {"k"}


def test_the_needs_on_a_device_are_known_for_what_runs_here() -> None:
    source = """
#if%s LEARNML_CPU
#define HELD 4096
#else
#define HELD 1
%s
#endif
extern "C" __global__ void k(float *x, int n) {
  float held[HELD];
  for (int i = 0; i < n; i++) held[i] = x[i];
  for (int i = 0; i < n; i++) x[i] = held[n - 1 - i];
}
"""
    assert nvrtc.resources(source % ("def", ""))["k"]["local_bytes"] >= 4 * 4096
    (found,) = nvrtc.refusals(source % ("def", "int x = y;"))
    assert (found.line, "undefined" in found.message) == (6, True)


@pytest.mark.parametrize(
    "asked", ["#ifdef __GNUC__", "#if 1 < __SIZEOF_INT128__", "#ifndef __EDG__"]
)
def test_a_source_that_tests_for_this_compiler_differs_on_a_device(asked: str) -> None:
    (found,) = nvrtc.refusals(f"\n{asked}\n#endif\n{BUILT_IN}")
    assert found.line == 2
    assert "another source there" in found.message


def test_builtins_need_no_header() -> None:
    assert compile_source(BUILT_IN).kernels == ("k",)


SHARED = """extern "C" __global__ void k(float *y) {
  __shared__ alignas(16) float a[5];
  __shared__
      alignas(2 * (sizeof(float) + 4)) [[maybe_unused]] float b[4], c;
  alignas(16) __shared__ float d[4];
  __shared__ __align__(16) float e[4];
  extern __shared__ __align__(16) float f[];
  extern __align__(16)
  __shared__ float g[];
  __shared__ extern float h[];
  __align__(16) extern volatile __shared__ float i[];
  static_assert(__LINE__ == 12, "no line is moved");
  y[0] = a[0] + b[0] + c + d[0] + e[0] + f[0] + g[0] + h[0] + i[0];
}
"""


def test_the_alignment_of_shared_memory_may_stand_where_cuda_allows_it() -> None:
    assert compile_source(SHARED).kernels == ("k",)
    assert not nvrtc.refusals(SHARED)


VARIABLES = """extern "C" {
struct Sizes { int rows, columns; __device__ int both() const { int sum = rows + columns; return sum; } };
__constant__ Sizes sizes; __device__ float rms(float x) { float local = x; return local; }
__constant__ float gamma[3], eps = 1e-6f;
__device__ __align__(16) float aligned[8]; __device__ alignas(16) struct Sizes twice[2];
__global__ void k(float *y) { static __device__ int inner; y[0] = inner++ + sizes.rows + eps; }
}
__constant__ struct { int a; float b[2]; } unnamed; __constant__ struct Named { int a; } named = {1};
struct Other { static __device__ int member() { return 0; } }; float __device__ first;
template <typename T> __device__ T general;
__device__ enum Which { NONE, SOME } which; __device__ struct Alone { int a; };
"""


def test_variables_are_found_however_they_are_declared() -> None:
    module = Module(compile_source(VARIABLES).library)
    sizes = {
        **{"sizes": 8, "gamma": 12, "eps": 4, "aligned": 32, "twice": 16},
        **{"unnamed": 12, "named": 4, "first": 4, "which": 4},
    }
    assert {name: module.global_address(name)[1] for name in sizes} == sizes
    constant = {variable.name for variable in module.variables if variable.constant}
    assert constant == {"sizes", "gamma", "eps", "unnamed", "named"}
    for name in ("inner", "local", "sum", "member", "general", "Alone"):
        with pytest.raises(KeyError):
            module.global_address(name)


def test_messages_say_what_to_write_instead() -> None:
    lines = {
        "f<<<1, 32>>>(p, n);": "launch from Python, by KERNEL(grid, block, args)",
        "__shared__ float row[n];": "`extern __shared__ float name[];`",
        "v = p[threadIdx];": "write threadIdx.x",
        "v = __shfl_xor_sync(v, 16);": "First come the lanes that take part: __shfl_xor_sync(0xff",
        "v = __any_sync(v > 0);": "__any_sync(unsigned int, int)'. First come the lanes",
        "v = nvx; // f<<<1, 32>>>": "'nvx' was not declared in this scope",
        "float[4] parts;": "float name[8]",
    }
    body = "".join(f"{line}\n" for line in lines)
    with pytest.raises(CompileError) as caught:
        compile_source(f'extern "C" __global__ void f(float *p, int n) {{ float v = 1;\n{body}}}')

    said = {found.line: found.message for found in caught.value.diagnostics}
    for number, (line, says) in enumerate(lines.items(), start=2):
        assert says in said.get(number, ""), line
    assert said[7].endswith("in this scope")
    assert "cp.RawModule(code=..., name_expressions=['g<...>'])" in refused(
        "template <int N> __global__ void g(int *p) { p[0] = N; }"
    )
    assert "templates cannot be marked" in refused(
        'extern "C" { template <int N> __global__ void g(int *p) { p[0] = N; } }', names=("g<1>",)
    )
