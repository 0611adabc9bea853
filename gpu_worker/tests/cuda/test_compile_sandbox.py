"""A kernel's source is trusted no more than any program: the compiler does nothing else for it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from gpu_worker.cuda_cpu import (
    CompileError,
    CompilerMissingError,
    compile_source,
)
from gpu_worker.cuda_cpu.frontend import (
    cleaning,
    lint,
    options,
    rules,
)
from gpu_worker.cuda_cpu.frontend.translating import translate
from gpu_worker.cuda_cpu.toolchain import (
    advice,
    gxx,
    messages,
)
from gpu_worker.cuda_cpu.toolchain.building import SOURCE_BYTES
from gpu_worker.cuda_cpu.toolchain.cache import Cache
from gpu_worker.sandbox import bubblewrap, compiling
from gpu_worker.sandbox.isolation import ALLOW_NO_NAMESPACES
from gpu_worker.tests.cuda.executor import KERNEL, refused

SECRET = "/etc/hostname"


REACHING = {
    "include of a path": f'#include "{SECRET}"\n',
    "include in brackets": f"#include <{SECRET}>\n",
    "include of a relative path": '#include "../../../../etc/hostname"\n',
    "include of a system header": "#include <unistd.h>\n",
    "include by a macro": f'#define H "{SECRET}"\n#include H\n',
    "include behind a comment": f'/* */ # /* */ include "{SECRET}"\n',
    "include over two lines": f'#inc\\\nlude "{SECRET}"\n',
    "include by a digraph": f'%:include "{SECRET}"\n',
    "include by a digraph over two lines": f'%\\\n:include "{SECRET}"\n',
    "include after a form feed": f'\f#include "{SECRET}"\n',
    "include with blanks after the splice": f'#inc\\  \nlude "{SECRET}"\n',
    "include behind a comment that is spliced": f'/\\ \n* */ #include "{SECRET}"\n',
    "pragma behind a comment that is spliced": '/\\\t\n* */ #pragma GCC optimize ("O0")\n',
    "include where extern C was": f'extern "C" #include "{SECRET}"\n',
    "pragma where extern C was": 'extern "C" %:pragma GCC optimize ("O0")\n',
    "pragma behind dynamic shared memory": 'extern __shared__ float\n s[]; #pragma GCC optimize ("O0")\n',
    "include on a line that is joined": f'int a; \\\n#include "{SECRET}"\n',
    "pragma on a line that is joined": 'int a; \\ \\ \n#pragma GCC optimize ("O0")\n',
    "include after carriage returns": f'int x;\r#include "{SECRET}"\n',
    "include where a condition holds": f'#if 0\n#else\n#include "{SECRET}"\n#endif\n',
    "include_next": "#include_next <stdio.h>\n",
    "import": f'#import "{SECRET}"\n',
    "embed": f'#embed "{SECRET}"\n',
    "line": '#line 7 "other.cu"\n',
    "line marker": '# 7 "other.cu"\n',
    "pragma spliced": '_Pra\\\ngma("GCC poison int")\n',
    "question about a file": f'#if __has_include("{SECRET}")\n#endif\n',
    "question spliced": f'#if __has_\\\ninclude("{SECRET}")\n#endif\n',
    "assembler": f'__device__ void g() {{ asm(".incbin \\"{SECRET}\\""); }}\n',
    "assembler at file level": f'__asm__(".incbin \\"{SECRET}\\"");\n',
    "assembler by a macro": '#define A asm\nA("nop");\n',
    "assembler by pasting": '#define J(a, b) a##b\nJ(as, m)("nop");\n',
    "assembler spliced": 'as\\\nm("nop");\n',
    "constructor by a digraph": "<:<:gnu::constructor:>:> void g() {}\n",
    "alias": 'extern "C" void h() __attribute__((alias("f")));\n',
    "alias behind a comment": 'extern "C" void h() __attri\\\nbute__((alias("f")));\n',
    "section by pasting": '#define J(a, b) a##b\nJ(__attri, bute__)((section("x"))) int g;\n',
    "pragma by pasting": '#define J(a, b) a##b\nJ(_Pra, gma)("GCC poison int")\n',
    "a name of the runtime": 'extern "C" int learnml_launch(void *);\n',
    "a hook redefined": 'extern "C" void __tsan_read4(void *) {}\n',
    "a macro of the runtime": "#undef LEARNML_ENTRIES\n",
    "a keyword redefined": "#define __shared__ static\n",
    "raw string": 'const char *s = R"(#include)";\n',
    "module": "import std;\n",
    "file name": "const char *s = __FILE__;\n",
}


@pytest.mark.parametrize("head", REACHING.values(), ids=REACHING.keys())
def test_sources_that_ask_for_more_than_arithmetic_are_refused(head: str) -> None:
    message = refused(head + KERNEL.replace("VALUE", "1"))

    assert "gave up" not in message
    assert Path(SECRET).read_text().strip() not in message


HARMLESS = {
    "dependency": f'#pragma GCC dependency "{SECRET}"\n',
    "optimize": '#pragma GCC optimize ("O0")\n',
    "pragma in code": '_Pragma("GCC poison int")\n',
    "pragma by a macro": '#define P _Pragma("GCC poison int")\nP\n',
    "constructor": "__attribute__((constructor)) void g() {}\n",
    "constructor by a macro": "#define A __attribute__((constructor, \\\n  used))\nA void g() {}\n",
    "constructor by a standard attribute": "[[gnu::constructor]] void g() {}\n",
    "attributes by using": "[[using gnu: constructor]] void g() {}\n",
    "section": '__attribute__((section(".init_array"))) void (*g)() = nullptr;\n',
}


@pytest.mark.parametrize("head", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_nvrtc_ignores_does_not_reach_the_compiler(head: str) -> None:
    source = head + KERNEL.replace("VALUE", "1")

    text = translate(source, ()).text

    assert re.search("constructor|init_array|GCC|gnu|_Pragma|__attribute__", text) is None
    assert text.count("\n") >= source.count("\n")
    assert compile_source(source).kernels == ("f",)


ALONE = [name for name in REACHING if name.startswith("include ") and "joined" not in name]
"""Includes that are directives of their own, or would be to a compiler that reads differently."""


def test_includes_behind_conditions_never_reach_the_compiler() -> None:
    barred = 0
    for name in ALONE:
        head = REACHING[name]
        source = cleaning.clean(f"#ifndef LEARNML_CPU\n{head}#endif\n")
        for text in (source.text, source.plain):
            seen = rules.with_bars(source, text)
            assert seen.count("\n") == text.count("\n")
            assert re.search(r"^\s*(?:#|%:)\s*include", seen, re.MULTILINE) is None, name
            # Nor may lines be joined that the rules have seen as two.
            assert re.search(r"\\\s*$", seen, re.MULTILINE) is None, name
            barred += f"#error {rules.BAR}" in seen
    # After a line splice, and after a former extern "C", they are no directives.
    assert barred == 2 * (len(ALONE) - 2)


PASTED = (
    {
        '#define E extern\n#define J(a, b) a##b\nJ(_Pra, gma)("GCC optimize(1)")': "A pragma has a line",
        f'#if J(__has_, include)("{SECRET}")\n#endif': "which files there are",
        "const char *s = J(__FI, LE__);": "no file of its own",
        "const char *t = J(__TI, ME__);": "always compiles to the same",
    },
    {
        "#define J(a, b) a##b\nauto &g = J(learn, ml)::now;": "learnml belongs to the executor",
        "void h() { J(learn, ml_fence)(); }": "learnml_fence belongs to the executor",
        "void J(__ts, an_read4)(void *) {}": "__tsan_read4 belongs to the executor",
        "auto &k = __CONCAT(learn, ml)::now;": "learnml belongs to the executor",
    },
    {
        '__glibc_macro_warning1(GCC optimize("O0"))': "__glibc_macro_warning1 stands for",
        "__REDIRECT(void g, (), h);": "__REDIRECT stands for",
        '__errordecl(g, "text");': "__errordecl stands for",
    },
)
"""Words that come to be by pasting, or hide in macros of the C library; and why they are refused."""


@pytest.mark.parametrize("sources", PASTED, ids=["questions", "names", "macros"])
def test_identifiers_assembled_by_macros_are_refused(sources: dict[str, str]) -> None:
    with pytest.raises(CompileError) as caught:
        compile_source("\n".join(sources) + "\n" + KERNEL.replace("VALUE", "1"))

    found = caught.value.diagnostics
    assert {item.kind for item in found} == {"refused-source"}
    for why in sources.values():
        assert any(why in item.message for item in found), (why, found)


def test_a_clash_with_a_runtime_symbol_at_link_time_says_what_to_do() -> None:
    run = compiling.CompilerRun(
        1,
        "/usr/bin/ld: /kit/runtime.o: in function `switch':\nruntime.cpp:(.text+0x0): multiple "
        "definition of `switch'; /tmp/a.o:kernel.cu:2: first defined here\n",
        "",
        0.1,
    )
    (found,) = messages.compile_error(run, "a\nb\n").diagnostics
    assert found.line == 2
    assert "Take another one" in found.message


@pytest.mark.parametrize(
    "head",
    [
        "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <math_constants.h>\n",
        "#pragma once\n",
        "#define TWICE(x) \\\n  ((x) + \\\n   (x))\n",
        "// #include <unistd.h> and asm(\"nop\") in a comment\n",
        "#ifdef __NOT_HERE__\nasm(\"only there\");\n#endif\n"
        "#ifndef __CUDACC_RTC__\n# include <math.h>\n#elif 0\n#inc\\\nlude \\\n  HEADER\n#endif\n",
        "#ifndef LEARNML_CPU\nasm(\"only on a device\");\n#endif\n",
        "/* läuft */ // naïve\n",
        "namespace tools { template <int N> struct Size { enum { value = N }; }; }\n",
    ],
)  # fmt: skip
def test_ordinary_sources_are_accepted(head: str) -> None:
    built = compile_source(head + KERNEL.replace("VALUE", "1"))

    assert built.kernels == ("f",)


@pytest.mark.parametrize(
    "option",
    ["-include=/etc/passwd", "--pre-include=../x", "-include/etc/passwd", "-fplugin=x.so", "@args", "-DX=/*", "-DX=2é",
     "-DXé=2", "-DX=1\n#include <x>", "-DX=1\\\n", "-DX(a\n)=1", "-DX=__FILE__", "-DX=learnml",
     "-DLEARNML_X=1", "-D__shared__=static", "-Uasm", "-o/tmp/x", "-B/tmp", "-specs=x", "-wrapper", "--sysroot=/"],
)  # fmt: skip
def test_options_that_reach_files_or_the_executor_are_refused(option: str) -> None:
    message = refused(KERNEL.replace("VALUE", "1"), options=(option,))

    assert re.search("NVRTC, which compiles|not taken here|cannot be included|undefined", message)


def test_only_macros_among_the_options_reach_the_compiler() -> None:
    words = (f"-I{SECRET}", "-DX=`id`", "-DY=1//c", "-DZ=asm", "--time=/tmp/x", "-Xptxas=-o=/tmp/x")

    text = translate(KERNEL, (), options.read((*words, "-DVALUE=1"))).text

    assert SECRET not in text
    assert re.findall("^#define [XYZ] .*$", text, re.MULTILINE) == [
        *("#define X `id`", "#define Y 1", "#define Z asm")
    ]


def test_a_name_with_letters_that_cuda_does_not_know_is_refused() -> None:
    source = "template <int N> __global__ void k(int *x) { x[0] = N; }\n"
    with pytest.raises(CompileError, match="The source has no kernel"):
        compile_source(source, (), ("k<é>",))


def test_usual_options_are_accepted() -> None:
    options = ("-std=c++17", "--use_fast_math", "-DVALUE=41+1", "-DFLAG")

    assert compile_source(KERNEL, options).kernels == ("f",)


BOMBS = {
    "templates": (
        "template <int N> struct A { typedef A<N + 1> next; enum { v = next::v }; };\n",
        "A<0>::v",
    ),
    "instances": (
        "template <int N, int M> struct B { enum { v = B<N - 1, 2 * M>::v + B<N - 1, 2 * M + 1>::v }; };\n"
        "template <int M> struct B<0, M> { enum { v = M }; };\n",
        "B<24, 0>::v",
    ),
    "constexpr": (
        "constexpr int spin(int n) { int s = 0; for (long i = 0; i < 1L << 40; i++) s += i % n; return s; }\n",
        "std::integral_constant<int, spin(3)>::value",
    ),
    "macros": (
        "#define A0 1+\n"
        + "".join(f"#define A{n + 1} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n}\n" for n in range(9)),
        "A9 1",
    ),
    "data": ("__device__ int huge[1 << 28] = {1};\n", "huge[1]"),
}


@pytest.mark.parametrize(("head", "value"), BOMBS.values(), ids=BOMBS.keys())
def test_compile_bombs_are_contained(head: str, value: str) -> None:
    refused(head + KERNEL.replace("VALUE", value))


ENDLESS = {
    "heads": "__global__ void f(",
    "uses of a macro": "K(",
    "variables": "__device__ int ",
    "shared arrays": "extern __shared__ float ",
    "integers": "int ",
    "underscores": f"{'_' * 390} 1/2;",
    "fractions": "+1/2",
    "floats": "float a=",
    "attributes": "__attribute__((",
    "standard attributes": "[[",
    "pragmas of code": '_Pragma("',
    "loops to unroll": "\n#pragma unroll n\n",
}


@pytest.mark.parametrize("part", ENDLESS.values(), ids=ENDLESS.keys())
def test_reading_unterminated_constructs_takes_linear_time(part: str) -> None:
    """The worker reads it itself: steps must not grow with the square of a text's length."""
    source = f"#define K(n) __global__ void n\n{part * (SOURCE_BYTES // len(part) - 20)}"
    source += KERNEL.replace("VALUE", "1")
    before = time.process_time()
    with contextlib.suppress(CompileError):
        list(lint.notes(translate(source, ())))
    assert time.process_time() - before < 10


@pytest.mark.parametrize(
    "line", ["float [" + " " * 60_000, '"\\' * 30_000, "for a" + ",a" * 30_000]
)
def test_advice_on_an_unterminated_line_takes_linear_time(line: str) -> None:
    before = time.process_time()
    assert advice.plain("call to '" * 8_000, line)
    assert time.process_time() - before < 2


def test_sources_that_are_too_long_are_refused() -> None:
    assert "KB" in refused(KERNEL.replace("VALUE", "1") + "\n" * SOURCE_BYTES)


# --- the sandbox itself, without the rules before it ------------------------------------------------
def attempt(*command: str) -> str:
    with compiling.work_folder() as folder:
        run = compiling.run(command, folder, {"/kit": gxx.kit()})
        return f"{run.returncode} {run.messages}"


def test_the_compiler_sees_only_its_own_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret of the worker")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == Path.home().owner() and folder != Path("/tmp"):
            os.chmod(folder, folder.stat().st_mode | 0o755)  # noqa: S103

    assert "a secret" not in attempt("cat", str(secret))
    assert attempt("cat", SECRET).startswith("1 ")
    assert "LEARNML" not in attempt("sh", "-c", "set")
    assert attempt("ls", "/proc").startswith("2 ")
    assert attempt("sh", "-c", "echo > /kit/runtime.o").startswith("2 ")
    assert attempt("sh", "-c", "echo > /usr/bin/cc1plus").startswith("2 ")
    # Positive controls: it can read the kit and write to its folder.
    assert attempt("ls", "/kit").startswith("0 ")
    assert "runtime.o" in attempt("ls", "/kit")
    assert attempt("sh", "-c", "echo > here").startswith("0 ")


def test_the_compiler_is_unprivileged_and_alone() -> None:
    assert "Uid" not in attempt("id", "-u")
    assert attempt("id", "-u").split()[1] != "0"
    assert "Permission" in attempt("sh", "-c", "mkdir /new 2>&1 || echo Permission")
    assert attempt("sh", "-c", "exec 3<>/dev/tcp/127.0.0.1/80").split()[0] != "0"
    assert attempt("sh", "-c", "kill -0 1 && kill -9 $PPID; true").startswith(("0 ", "-", "137"))


def confined(monkeypatch: pytest.MonkeyPatch, *command: str) -> str:
    """Run a command as on a machine without bubblewrap, where the operator allows level B."""
    monkeypatch.setattr(bubblewrap, "programs", lambda: [])
    monkeypatch.setenv(ALLOW_NO_NAMESPACES, "1")
    kit = gxx.kit()
    with compiling.work_folder() as folder:
        run = compiling.run(command, folder, {"/kit": kit}, confine=kit / gxx.CONFINE)
        return f"{run.returncode} {run.messages}"


def test_without_namespaces_landlock_contains_the_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def attempt(*command: str) -> str:
        return confined(monkeypatch, *command)

    assert attempt("cat", SECRET).startswith("1 ")
    assert attempt("sh", "-c", "ls /proc/self").split()[0] != "0"
    assert attempt("sh", "-c", "echo > /kit/runtime.o").startswith("2 ")
    assert attempt("sh", "-c", "echo > /tmp/learnml-left-behind").startswith("2 ")
    assert "runtime.o" in attempt("ls", "/kit")
    assert attempt("sh", "-c", "echo > here && cat here").startswith("0 ")


def test_without_namespaces_kernels_compile_where_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bubblewrap, "programs", lambda: [])
    source = KERNEL.replace("VALUE", str(os.getpid()))
    with pytest.raises(CompilerMissingError, match="bubblewrap"):
        compile_source(source)

    monkeypatch.setenv(ALLOW_NO_NAMESPACES, "1")

    assert compile_source(source).kernels == ("f",)


def test_a_compiler_that_never_ends_is_stopped() -> None:
    limits = compiling.CompilerLimits(wall_seconds=0.5)
    with compiling.work_folder() as folder:
        run = compiling.run(["sleep", "infinity"], folder, {}, limits)

    assert run.stopped == "wall"


def test_the_cache_key_covers_everything_that_affects_a_build() -> None:
    source = KERNEL.replace("VALUE", "123")

    first, again = compile_source(source), compile_source(source)
    others = (
        compile_source(KERNEL, ("-DVALUE=123",)),
        compile_source(KERNEL.replace("VALUE", "124")),
        compile_source(source.replace("f(", "g(")),
    )

    assert again.cached
    assert again.library == first.library
    assert len({first.key, *(other.key for other in others)}) == 4
    assert gxx.version() in str(gxx.kit())


def test_the_cache_folder_is_bounded(tmp_path: Path) -> None:
    for age in range(5):
        path = tmp_path / f"{age}.so"
        path.write_bytes(b"")
        os.utime(path, (1000 - age, 1000 - age))

    Cache.prune(tmp_path, kept=2)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.so", "1.so"]
    # If another worker removes an entry at the same moment, that is fine too.
    (tmp_path / "gone.so").symlink_to(tmp_path / "nowhere")
    Cache.prune(tmp_path, kept=0)
    assert not list(tmp_path.glob("[0-9].so"))


def test_a_cache_folder_that_others_can_write_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "kernels"
    place.mkdir(mode=0o755)
    monkeypatch.setenv(gxx.FOLDER_SETTING, str(place))
    assert gxx.folder.__wrapped__() == place

    place.chmod(0o777)

    with pytest.raises(CompilerMissingError, match="cannot be trusted"):
        gxx.folder.__wrapped__()


def test_a_missing_compiler_is_reported_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)

    with pytest.raises(CompilerMissingError, match=r"apt-get install g\+\+"):
        gxx.compiler()
