"""Options, headers, pragmas and attributes: the executor agrees with NVRTC itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_worker.cuda_cpu import (
    CompileError,
    compile_source,
)
from gpu_worker.cuda_cpu.frontend import (
    headers,
    nvrtc_options,
    options,
    ptxas_options,
)
from gpu_worker.cuda_cpu.frontend.nvrtc_options import ALONE, CHOICES, FLAGS
from gpu_worker.cuda_cpu.frontend.translating import translate
from gpu_worker.cuda_cpu.toolchain import (
    nvrtc,
)
from gpu_worker.cupy_cpu.executor import Module
from gpu_worker.tests.cuda.nvrtc_answers import PLAIN, answers

NEVER_ASKED = {"--use-pch", "--use-bundled-headers", "--fdevice-time-trace"}
"""What NVRTC says depends on files that are there, or can be written."""
ENDED_BY = {"dopt=", "Ofast-compile=", "Ofc=", "ptxas-options=", "Xptxas=", "Xcudafe="}
"""Without a value these end the process that asks NVRTC 13.5."""
VALUES = ("", "true", "1")
SPELLED = {name for long in (*FLAGS, *CHOICES, *ALONE) for name in (long, long[1:], f"-{long}")
           if name.startswith("-") and not name.startswith("---")}  # fmt: skip
LISTED = [
    option
    for name in sorted(SPELLED)
    if nvrtc_options.spelled(name) not in NEVER_ASKED
    for option in [(name,), (name, "7"), *((f"{name}={value}",) for value in VALUES)]
    if option[0].lstrip("-") not in ENDED_BY
]
ASSEMBLER = [
    *((f"-Xptxas={flag}",) for flag in sorted(ptxas_options.FLAGS)),
    *((f"--ptxas-options={name}={value}",) for name in sorted(ptxas_options.VALUES)
      for value in ("7", "true", "ca")),
    *((f"-Xptxas=-O{level}",) for level in ("", "0", "1", "3", "9", "fast")),
    *(("-Xptxas", word) for word in ("-v", "v", "-m64", "-m32", "-foo", "-v -O3", "-v,-O3")),
]  # fmt: skip
ALONE_WORDS = """
--optimize=3 -Wall -g -o -Xcompiler=-O3 --expt-relaxed-constexpr --use-fast-math -use_fast_math @args k.cu -
-- -diag-suppress=177,550 -diag-suppress=0 -Werror=reorder,conversion -Werror=all -split-compile=-1 -jtd=101
-jtd=102 --fmax-errors=0 -maxrregcount=-5 -maxrregcount=1e2 -ftz=TRUE -std=c++03 -std=c++11 -std=c++14
-std=c++17 -std=c++20 -std=c++23 -std=c++26 -std=gnu++17 -arch=sm_75 -arch=sm_70 -arch=sm_90a -arch=sm_100a
-arch=sm_100f -arch=compute_90 -arch=native -arch=lto_90 -cuda-api-version=13.0 -dopt=on -dopt=off -Ofc=max
-Ofc=1 -opt-info=inline -opt-info=all -DX -DX= -DX=1 -D1X -D=3 -DX; -DX+ -DX.Y -DX(a,b)=a+b -DX( -DA,B
-DX=<a> -DX={1,2} -DX=float* -DX=~0u -DX=1?2:3 -Ddefined -UX -U1 --undefine-macro=X --define-macro=X=2
-define-macro=X -I/nowhere -I -include=cuda_fp16.h --pre-include=cuda_bf16.h -pre-include=cuda_fp16.h
-include=nosuch.h -include=stdio.h -includecuda_fp16.h -include=<cuda_fp16.h> -Xcudafe=--diag_suppress=177
-Xcudafe=--foo
"""
WRITTEN = [
    *((f"-O{level}",) for level in ("", "0", "1", "2", "3", "s")),
    *((word,) for word in ALONE_WORDS.split()),
    *((word,) for word in ("", " ", " -G", "-G -w", "-maxrregcount= 32", "-maxrregcount=32 ", "-DX Y", "-D X=3",
                           "-DX =3", "-DX=a b", "-UX Y", "-DX=//c", "-DX=/*")),
    *(("-D", "X=3"), ("-D", "-G"), ("-D",), ("-U", "X"), ("-I", "/x"), ("-include", "cuda_fp16.h")),
    *(("--define-macro", "X"), ("-ftz", "true"), ("-ftz", "x"), ("-Werror", "reorder"), ("-arch", "sm_90")),
    *(("-maxrregcount", "32"), ("-maxrregcount",), ("-arch",), ("-std", "c++17"), ("-time", "x")),
    *(("-dc", "-dw"), ("-dw", "-rdc=true"), ("-dc", "-rdc=false"), ("-ewp", "-dc"), ("-ewp", "-dw")),
    *(("-dlto", "-rdc=false"), ("-dlto", "-optix-ir"), ("-dlto", "-dc"), ("--tile-only", "--simt-only")),
    *(("-G", "--numba-debug"), ("-err-no", "-no-err-no"), ("-pch", "-create-pch=x"), ("-rdc", "true", "-dw")),
]  # fmt: skip
OPTIONS = list(dict.fromkeys((*LISTED, *ASSEMBLER, *WRITTEN)))
READ_BY_PTXAS = ("-Xptxas", "--ptxas-options", "--version-ident", "-version-ident", "-dQ")
"""Of these ptxas says whether they are right; all others NVRTC has judged once the source is read."""


def refusal(words: tuple[str, ...]) -> str:
    """Return why the executor does not take options, "" if it does."""
    try:
        options.read(words)
    except CompileError as error:
        return str(error)
    return ""


def test_every_option_is_accepted_or_refused_as_by_nvrtc() -> None:
    # Refused for lack of a device of that family: CuPy appends the device's own.
    asked = [
        words if words[0].startswith(READ_BY_PTXAS) else ("-fdevice-syntax-only", *words)
        for words in OPTIONS
        if words != ("-arch=sm_100f",)
    ]

    taken = answers([(PLAIN, words) for words in asked])

    assert min(sum(taken), len(taken) - sum(taken)) > 200
    differ = [words for words, yes in zip(asked, taken, strict=True) if yes == bool(refusal(words))]
    assert not differ


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("-O3", "leave it out. What the assembler does can be chosen, as in --ptxas-options=-O3"),
        ("-O0", "as in --ptxas-options=-O0"),
        ("-Xcompiler=-O3", "one of nvcc's"),
        ("--use-fast-math", "Was --use_fast_math meant?"),
        ("-std=c++26", "but one of c++03, c++11, c++14, c++17, c++20, c++23"),
        ("-ftz=1", "but one of true, false"),
        ("-include=stdio.h", "printf is built in"),
        ("-D1X", "write -DNAME, -DNAME=value"),
    ],
)
def test_a_refused_option_says_what_to_write(option: str, says: str) -> None:
    assert says in refusal((option,))


def test_macros_are_defined_and_undefined_in_order() -> None:
    source = """
#if A != 2 || defined B || C(3) != 4 || defined D
#error order
#endif
extern "C" __global__ void k(float *y) {
  half h = 1.f;
#pragma unroll A
  for (int i = 0; i < 4; i++) y[i] = (float)h + sizeof(WIDE);
}
"""
    words = (
        *(
            "-DA=1",
            "-D",
            "A=2",
            "-DB",
            "-U",
            "B",
            "-DC(n)=n + 1",
            "-UD",
            "-DD",
            "--undefine-macro=D",
        ),
        *("-DWIDE=unsigned long long", "-include=cuda_fp16.h"),
    )

    assert compile_source(source, words).kernels == ("k",)
    assert answers([(source, words)]) == [True]
    assert nvrtc.resources(source, words)["k"]["registers"] > 0


TAKEN = """
#pragma nv_diag_suppress 177
#pragma nv_diag_default 177
#pragma GCC diagnostic push
#pragma GCC poison y
#pragma omp simd
#pragma message("hello")
#pragma no_such_pragma (
#pragma
_Pragma("nv_diag_suppress 550")
#define UNROLL _Pragma("unroll")
#define DO(x) _Pragma(#x)
#ident "kernel"
#ifndef __KERNEL_H__
#define __KERNEL_H__
#endif
#pragma pack(push, 1)
struct Tight { char c; float a[3]; };
#pragma pack(pop)
struct __attribute__((aligned(16))) Four { float at[4]; };
struct __attribute((packed, aligned(8), unused)) Packed { char c; double d; };
struct Member { char c; float f __attribute__((packed)); };
struct Behind { char c; float f; } __attribute__((packed));
struct Aligned { float f; } __align__(16);
struct [[gnu::packed]] Gnu { char c; float f; };
struct [[nodiscard, vendor::thing(1, "]]")]] Nodiscard { char c; };
struct [[using gnu: packed]] Using { char c; float f; };
enum __attribute__((__packed__)) Small { ONE };
#define ALIGNED(n) __attribute__((aligned(n)))
struct ALIGNED(32) ByMacro { float f; };
struct __attribute__((no_such_attribute("a)b"), section("x"), weak)) Odd { float f; };
static_assert(sizeof(Tight) == 13 && alignof(Four) == 16 && sizeof(Packed) == 16 && sizeof(Member) == 5, "");
static_assert(sizeof(Behind) == 8 && alignof(Aligned) == 4 && sizeof(Gnu) == 8 && sizeof(Using) == 8, "");
static_assert(sizeof(Small) == 1 && alignof(ByMacro) == 32, "");
__attribute__((noinline, hot, optimize("O3"))) __device__ float twice(float v) { return 2 * v; }
[[nodiscard]] [[gnu::const]] __device__ inline __attribute__((always_inline)) float once(float v) { return v; }
__constant__ struct __attribute__((aligned(8))) { float a, b; } kept;
extern "C" __global__ void __launch_bounds__(64) __attribute__((hot)) k(float *__restrict__ y, int n) {
  __shared__ __attribute__((aligned(16))) float s[4];
  float local __attribute__((unused, aligned(8))) = kept.a;
  s[0] = 1;
#pragma unroll 4
  for (int i = 0; i < 4; i++) y[i] = twice(s[0]);
  UNROLL for (int i = 0; i < 4; i++) y[i] += local;
  DO(unroll 2) for (int i = 0; i < 4; i++) y[i] += once(1);
  _Pragma("unroll")
  for (int i = 0; i < 4; i++) y[i] += 1;
  if (n > 0) [[likely]] y[0] = 1;
  switch (n) { case 1: y[0] = 2; [[fallthrough]]; case 2: y[1] = 3; __attribute__((fallthrough)); default: break; }
}
"""
"""Pragmas and attributes that NVRTC takes, and what it makes of those that lay out structures."""


def test_pragmas_and_attributes_mean_what_they_mean_to_nvrtc() -> None:
    assert answers([(TAKEN, ())]) == [True]
    module = Module(compile_source(TAKEN).library)
    assert module.kernels == ("k",)
    assert module.kernel("k").launch_bound == 64
    assert module.global_address("kept")[1] == 8


ONE_BY_ONE = {
    "#pragma pack(3)": "1, 2, 4, 8 or 16",
    "#pragma pack 1": "write pack()",
    "#pragma pack(pop)": "nothing was pushed",
    "#pragma define_type_info": "not taken",
    "struct __attribute__ S { float f; };": "has no brackets",
    "struct __attribute__(aligned(16)) S { float f; };": "two brackets",
    "struct __attribute__((mode(SI))) S { float f; };": "name the type itself",
    '__attribute__((alias("k"))) __device__ float f(float x) { return x; }': "stands for another",
    "__pragma(unroll)": "a line of its own",
    "struct __declspec(align(16)) S { float f; };": "Attributes of the host",
    '#sccs "x"': "is not taken here",
}


def test_pragmas_and_attributes_that_nvrtc_refuses_are_refused() -> None:
    loop = 'extern "C" __global__ void k(float *y) {{\n#pragma unroll {}\nfor (int i = 0; i < 4; i++) y[i] = 0; }}\n'
    sources = [f"{line}\n{PLAIN}" for line in ONE_BY_ONE]
    says = list(ONE_BY_ONE.values())
    for argument, why in (("4.5", "a whole number"), ("full", "full is declared nowhere")):
        sources.append(loop.format(argument))
        says.append(why)

    assert not any(answers([(source, ()) for source in sources]))
    for source, why in zip(sources, says, strict=True):
        with pytest.raises(CompileError) as caught:
            compile_source(source)
        assert why in str(caught.value), source


def test_types_and_limits_of_cuda_std_need_only_their_header() -> None:
    included = "".join(f"#include <{name}>\n" for name in ("cuda_fp16.h", *headers.STANDARD))
    source = (
        included
        + """using cuda::std::numeric_limits;
static_assert(cuda::std::is_same_v<cuda::std::remove_cvref_t<const int &>, cuda::std::int32_t>, "");
static_assert(numeric_limits<float>::max() == FLT_MAX && sizeof(cuda::std::size_t) == 8 && INT_MAX > 0, "");
extern "C" __global__ void k(float *y, cuda::std::int64_t n) {
  cuda::std::array<float, 2> pair = {numeric_limits<__half>::max(), numeric_limits<float>::lowest()};
  uint32_t whole = cuda::std::numeric_limits<uint32_t>::max();
  y[n] = pair[0] + pair[1] + whole + cuda::std::get<0>(cuda::std::make_tuple(1.f));
}
"""
    )
    assert answers([(source, ())]) == [True]
    assert compile_source(source).kernels == ("k",)
    for word, header in (
        ("cuda::std::int32_t", "cuda/std/cstdint"),
        ("cuda::std::numeric_limits<float>::max()", "cuda/std/limits"),
        ("FLT_MAX", "cuda/std/cfloat"),
        ("__pipeline_commit()", "cuda_pipeline.h"),
    ):
        bare = PLAIN.replace("y[0] = 1", f"y[0] = {word}")
        with pytest.raises(
            CompileError, match=f"not known on a device without #include <{header}>"
        ):
            translate(bare, ())
        assert answers([(bare, ())]) == [False]


def test_the_page_names_every_accepted_or_refused_header() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/kernel-sources.md").read_text()

    for name in headers.STANDARD:
        assert f"`{name}`" in page or f"`{name.removeprefix('cuda/std/')}`" in page, name
    for name in sorted(headers.TAKEN - headers.DEVICE - set(headers.STANDARD)):
        assert f"`{name}`" in page, name
    for name in (
        "cooperative_groups/memcpy_async.h",
        "cuda/pipeline",
        "cuda/barrier",
        "cuda_awbarrier.h",
    ):
        assert name in headers.REFUSED
        assert f"`{name}`" in page, name
