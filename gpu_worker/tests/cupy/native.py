"""Attacks by kernels: machine code in the runner, built by the worker from the learner's source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Native:
    """A kernel's body, and what becomes of a submission that launches it.

    `leaks` is text that must not appear in the report.
    """

    name: str
    body: str
    outcomes: tuple[str, ...]
    preamble: str = ""
    options: tuple[str, ...] = ()
    leaks: str = "root:"

    @property
    def code(self) -> str:
        return (
            f'{self.preamble}\nextern "C" __global__ void attack(long long* out) {{\n'
            f"    {self.body}\n}}\n"
        )

    def submission(self, right: str) -> str:
        """Return a right solution that launches the kernel first, and prints what it found."""
        return (
            f"import cupy\n_attack = cupy.RawKernel({self.code!r}, 'attack', {self.options!r})\n"
            "_out = cupy.zeros(8, cupy.int64)\n"
            "_attack((1,), (1,), (_out,))\n"
            "print('FOUND', _out.get().tolist())\n"
            f"{right}"
        )


REFUSED = ("runtime_error",)
ANYTHING_BUT_ESCAPE = ("runtime_error", "wrong_answer", "flagged", "accepted", "time_limit")

COMPILER = (
    Native("include_a_file", "out[0] = 1;", REFUSED, '#include "/etc/passwd"'),
    Native("include_angled", "out[0] = 1;", REFUSED, "#include </etc/passwd>"),
    Native("include_next", "out[0] = 1;", REFUSED, '#include_next "/etc/passwd"'),
    Native("include_computed", "out[0] = 1;", REFUSED, '#define F "/etc/passwd"\n#include F'),
    Native("include_relative", "out[0] = 1;", REFUSED, '#include "../../../../etc/passwd"'),
    Native("has_include", "out[0] = SEEN;", ANYTHING_BUT_ESCAPE,
           '#if __has_include("/etc/passwd")\n#define SEEN 1\n#else\n#define SEEN 0\n#endif'),
    Native("embed_by_assembler", "out[0] = 1;", REFUSED,
           'asm(".section .rodata\\n.incbin \\"/etc/passwd\\"\\n.text");'),
    Native("include_itself", "out[0] = 1;", REFUSED, "#include __FILE__"),
    Native("run_before_main", "out[0] = 1;", ANYTHING_BUT_ESCAPE,
           "__attribute__((constructor)) static void early() { for (;;) {} }"),
    Native("endless_templates", "out[0] = T<0>::v;", REFUSED,
           "template <int n> struct T { static const int v = T<n + 1>::v; };"),
    Native("exploding_templates", "out[0] = F<26>::v;", REFUSED,
           "template <int n, int k = 0> struct F { static const long long v = "
           "F<n - 1, 2 * k>::v + F<n - 1, 2 * k + 1>::v; };\n"
           "template <int k> struct F<0, k> { static const long long v = k; };"),
    Native("exploding_macros", "out[0] = 0 J;", REFUSED,
           "".join(f"#define {b} {' '.join([a] * 8)}\n"
                   for a, b in zip(["+1", *"ABCDEFGHI"], "ABCDEFGHIJ", strict=True))),
    Native("huge_array", "out[0] = big[3];", REFUSED,
           "__device__ char big[1ll << 40] = {1};"),
    Native("output_flood", "out[0] = 1;", ANYTHING_BUT_ESCAPE,
           "\n".join('#warning "flood"' for _ in range(3000))),
    Native("endless_constant", "out[0] = spin(1ll << 60);", REFUSED,
           "constexpr long long spin(long long n) { long long s = 0; "
           "for (long long i = 0; i < n; i++) s += i; return s; }\n"
           "static_assert(spin(1ll << 60) > 0);"),
    Native("option_include", "out[0] = 1;", REFUSED, options=("-include", "/etc/passwd")),
    Native("option_response_file", "out[0] = 1;", REFUSED, options=("@/etc/passwd",)),
    Native("option_wrapper", "out[0] = 1;", REFUSED, options=("-wrapper", "/bin/sh,-c,id")),
    Native("option_plugin", "out[0] = 1;", REFUSED, options=("-fplugin=/tmp/x.so",)),
    Native("option_output", "out[0] = 1;", REFUSED, options=("-o", "/tmp/stolen")),
    Native("option_folder", "out[0] = 1;", ANYTHING_BUT_ESCAPE, '#include <passwd>',
           options=("-I/etc",)),
)  # fmt: skip

SYSTEM_CALL = (
    "static long call(long n, long a, long b, long c) { long r; "
    'asm volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx","r11","memory"); '
    "return r; }"
)
NATIVE = (
    Native("write_anywhere", "*(long long*)0x1234 = 1;", REFUSED),
    Native("write_over_the_heap", "for (long long i = 0; i < 1ll << 40; i++) out[i] = 0x41;",
           REFUSED),
    Native("write_before", "out[-100000] = 0x41414141;", ANYTHING_BUT_ESCAPE),
    Native("jump_anywhere", "((void (*)())(unsigned long long)(0xdead0000 + out[0]))();",
           ("runtime_error", "flagged")),
    Native("overflow_the_stack", "out[0] = deep(1);", ("runtime_error",),
           "__device__ __attribute__((noinline)) int deep(int n) "
           "{ volatile char room[4096]; room[0] = n; return deep(n + 1) + room[0]; }"),
    Native("system_calls", "out[0] = call(57, 0, 0, 0); out[1] = call(41, 2, 1, 0); "
           'out[2] = call(2, (long)"/etc/passwd", 0, 0); out[3] = call(101, 16, 1, 0); '
           'out[4] = call(59, (long)"/bin/sh", 0, 0);', ANYTHING_BUT_ESCAPE, SYSTEM_CALL),
    Native("open_a_library", 'out[0] = (long long)dlopen("/lib/x86_64-linux-gnu/libutil.so.1", 2);',
           ANYTHING_BUT_ESCAPE, 'extern "C" void* dlopen(const char*, int);'),
    Native("call_libc", 'out[0] = system("cat /etc/passwd"); '
           'out[1] = (long long)fopen("/etc/passwd", "r");', ANYTHING_BUT_ESCAPE,
           'extern "C" int system(const char*); extern "C" void* fopen(const char*, const char*);'),
    Native("exit_with_success", "_exit(0);", ANYTHING_BUT_ESCAPE[:3] + ("flagged",),
           'extern "C" void _exit(int);'),
)  # fmt: skip
