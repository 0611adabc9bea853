"""From CUDA C to C++ for the executor: very little is rewritten, and no line is moved."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gpu_worker.cuda_cpu.errors import refusal
from gpu_worker.cuda_cpu.frontend import (
    cleaning,
    expanding,
    launch_bounds,
    module_variables,
    poison,
    rules,
)
from gpu_worker.cuda_cpu.frontend.module_variables import VariableText
from gpu_worker.cuda_cpu.frontend.options import Options
from gpu_worker.cupy_cpu.executor.defects import Defect

SOURCE_NAME: Final = "kernel.cu"
_EXTERN_C: Final = re.compile(r'\bextern\s*"C"\s*')
_DYNAMIC: Final = re.compile(
    r"\bextern\b(?P<gap>\s*)__shared__\b"
    r"(?P<type>[^;(){}\[\]]{0,200}?"
    r"(?:(?:__align__|alignas)\s*\([^;{}\[\]]{0,200}?\)[^;(){}\[\]]{0,200}?)?)"
    r"(?P<name>\b[A-Za-z_]\w*)\s*\[\s*\]\s*;"
)
_ALIGNMENT: Final = re.compile(r"(?:__align__|alignas)\s*\([^;{}\[\]]*?\)")
_STATIC_SHARED: Final = re.compile(r"\bstatic\b(\s+)(?=__shared__\b)|(?<=__shared__)(\s+)static\b")
_BETWEEN: Final = r"(?:\b(?:volatile|__align__\s*\(\s*\w+\s*\))\s*)"
_EXTERN_APART: Final = re.compile(rf"\bextern\b(?P<gap>\s+)(?P<between>{_BETWEEN}+)\b__shared__\b")
_EXTERN_LAST: Final = re.compile(
    rf"\b__shared__\b(?P<gap>\s+)(?P<between>{_BETWEEN}*)\bextern\b(?!\s*\")"
)
_INNER: Final = r"\((?:[^();{}]|\([^();{}]{0,200}\)){0,200}\)"
_SHARED_ALIGNED: Final = re.compile(
    rf"\b__shared__\b(?P<attributes>(?:\s*(?:\balignas\s*\((?:[^();{{}}]|{_INNER}){{0,200}}\)"
    r"|\[\[\s*\w+\s*\]\]))+)"
)
"""Standard attributes begin a declaration for g++. CUDA takes them behind its own words as well."""
_KERNEL: Final = re.compile(r"\b__global__\b")
_NAME_BEFORE_LIST: Final = re.compile(r"([A-Za-z_]\w*)\s*\(")
_EXPRESSION: Final = re.compile(r"[A-Za-z_][\w:<>,()*&\- ]*\Z", re.ASCII)
CONSTANT_BYTES: Final = 64 * 1024
_TOO_MUCH_CONSTANT: Final = (
    "the __constant__ variables have more than 64 KB together, all the constant memory there is"
)
_LAUNCH_BOUNDS: Final = re.compile(r"__launch_bounds__\s*\(")
_MOST_KERNELS: Final = 256
_SEEN: Final = "LEARNML_SEEN_"
"""Begins the names of macros that say which kernels and variables no #if leaves out."""
_CONSTANT_SUM: Final = "learnml_sum_of_constants"


@dataclass(frozen=True, slots=True)
class KernelText:
    """A `__global__` function as the source has it."""

    name: str
    parameters: str
    line: int
    template: bool
    extern_c: bool
    bound: str = ""
    """C++ that declares what its `__launch_bounds__` allow; empty where it has none."""
    last_line: int = 0


@dataclass(frozen=True, slots=True)
class Translation:
    """`text` is a whole C++ file; `kernels` are the name expressions that it offers."""

    text: str
    kernels: tuple[str, ...]
    found: tuple[KernelText, ...]
    code: str


def translate(
    source: str, name_expressions: tuple[str, ...], given: Options | None = None
) -> Translation:
    """Return the C++ of a CUDA source. Without names, all its `extern "C"` kernels are offered.

    Raises:
        CompileError: the source is refused, or has no such kernel.
    """
    given = given or Options()
    cleaned = cleaning.clean(source)
    rules.check(cleaned, given.before)
    found = tuple(_kernels(expanding.expanded(cleaned)))
    names = name_expressions or tuple(kernel.name for kernel in found if kernel.extern_c)
    _check_names(names, found, cleaned)
    variables = module_variables.found(cleaned.code)
    text = _marked(_rewritten(rules.with_bars(cleaned, cleaned.text)), found, variables)
    epilogue = _epilogue(names, found, variables, asked_for=bool(name_expressions))
    text = "\n".join((_prologue(given.macros), text, epilogue))
    return Translation(text, names, found, cleaned.code)


def _prologue(macros: tuple[str, ...]) -> str:
    # Macros come after the prelude, since one with a name that the prelude uses would break it.
    poisoned = f'#include "{poison.HEADER}"'
    begin = ("namespace {", f'#line 1 "{SOURCE_NAME}"')
    return "\n".join(('#include "cuda_cpu.h"', poisoned, *macros, *begin))


def _rewritten(before: str) -> str:
    text = _STATIC_SHARED.sub(lambda match: cleaning.blank(match.group()), before)
    for order in (_EXTERN_APART, _EXTERN_LAST):
        text = order.sub(r"extern\g<gap>__shared__ \g<between>", text)
    text = _DYNAMIC.sub(_dynamic, text)
    text = _SHARED_ALIGNED.sub(r"\g<attributes> __shared__", text)
    # Linkage does not matter here: everything is in one namespace.
    rewritten = _EXTERN_C.sub(
        lambda match: (
            "namespace " + cleaning.blank(match.group())[10:]
            if text[match.end() : match.end() + 1] == "{"
            else cleaning.blank(match.group())
        ),
        text,
    )
    cleaning.check_directives(before, rewritten)
    return rewritten


def _marked(text: str, found: tuple[KernelText, ...], variables: Mapping[str, VariableText]) -> str:
    """Return the text with a macro before each kernel and variable. Where #if leaves one out, its
    macro is not defined either.
    """
    names = [(kernel.line, kernel.name) for kernel in found]
    names += [(line, name) for name, variable in variables.items() for line in variable.lines]
    lines = text.split("\n")
    for line, name in sorted(set(names), reverse=True):
        lines[line - 1 : line - 1] = [f"#define {_SEEN}{name}", f'#line {line} "{SOURCE_NAME}"']
    return "\n".join(lines)


def _dynamic(match: re.Match[str]) -> str:
    kind = _ALIGNMENT.sub(lambda found: cleaning.blank(found.group()), match["type"])
    name, words = match["name"], " ".join(kind.split())
    newlines = match.group().count("\n") - kind.count("\n")
    return (
        f"{kind} *const {name} = reinterpret_cast<{words} *>(LEARNML_DYNAMIC_SHARED);"
        + "\n" * newlines
    )


def _kernels(code: str) -> list[KernelText]:
    found = []
    for number, match in enumerate(_KERNEL.finditer(code)):
        if number == _MOST_KERNELS:
            raise refusal(f"A source can hold at most {_MOST_KERNELS} kernels.", None)
        at = match.end()
        bounds = _LAUNCH_BOUNDS.search(code, at)
        head_end = code.find("(", at)
        limits = ""
        while bounds and bounds.end() - 1 == head_end:
            at = _closing(code, head_end)
            limits = code[head_end + 1 : at - 1]
            head_end = code.find("(", at)
            bounds = _LAUNCH_BOUNDS.search(code, at)
        name = _NAME_BEFORE_LIST.search(code, at)
        if not name or head_end < 0 or name.end() - 1 != head_end:
            continue
        end = _closing(code, head_end)
        before = code[max(0, match.start() - 400) : match.start()]
        statement = re.split(r"[;{}]", before)[-1]
        found.append(
            KernelText(
                name[1],
                " ".join(code[head_end + 1 : end - 1].split()),
                code.count("\n", 0, match.start()) + 1,
                "template" in statement,
                'extern "C"' in " ".join(statement.split()) or _in_extern_c(code, match.start()),
                launch_bounds.declared(code, match.start(), statement, limits, name[1]),
                code.count("\n", 0, _body_end(code, end)) + 1,
            )
        )
    return found


def _body_end(code: str, at: int) -> int:
    """Return the end of the body that begins behind a parameter list; `at` where none does."""
    opening = code.find("{", at)
    return _closing(code, opening, "{", "}") if opening >= 0 else at


def _in_extern_c(code: str, at: int) -> bool:
    """True inside the braces of `extern "C" {`."""
    for match in re.finditer(r'\bextern\s*"C"\s*\{', code[:at]):
        if _closing(code, match.end() - 1, "{", "}") > at:
            return True
    return False


def _closing(code: str, opening: int, left: str = "(", right: str = ")") -> int:
    """Return the place after the bracket that closes the one at `opening`."""
    return _pairs(code, left, right).get(opening, len(code))


@functools.lru_cache(maxsize=8)
def _pairs(code: str, left: str, right: str) -> dict[int, int]:
    """Return the places after closing brackets by those of the opening ones.

    For all at once: a text may have many that are never closed.
    """
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(rf"[{re.escape(left + right)}]", code):
        if match.group() == left:
            opened.append(match.start())
        elif opened:
            pairs[opened.pop()] = match.end()
    return pairs


def _check_names(
    names: tuple[str, ...], found: tuple[KernelText, ...], source: cleaning.CleanSource
) -> None:
    known = {kernel.name for kernel in found}
    listed = ", ".join(dict.fromkeys(kernel.name for kernel in found)) or "none"
    hidden = [item for item in source.directives if _KERNEL.search(item.rest)]
    if not found and hidden:
        raise refusal(
            "A macro holds `__global__`, but no use of it reads as the head of a kernel: write "
            '`extern "C" __global__ void name(...)` out where the kernel is defined.',
            hidden[0].line,
        )
    if not found:
        raise refusal("The source has no kernel: no function is marked `__global__`.", None)
    linked = [kernel for kernel in found if kernel.template and kernel.extern_c]
    if linked:
        raise refusal(
            f'{linked[0].name} is a template, and templates cannot be marked extern "C". '
            + _instances(linked[0].name),
            linked[0].line,
            Defect.COMPILE_ERROR,
        )
    if not names and all(kernel.template for kernel in found):
        raise refusal(
            f"The kernels of the source are templates: {listed}. " + _instances(found[0].name),
            found[0].line,
        )
    if not names:
        raise refusal(
            f'No kernel of the source is marked `extern "C"`; it has {listed}. Put extern "C" '
            "before __global__, or name the kernel in name_expressions.",
            found[0].line,
        )
    for name in names:
        base = name.split("<")[0].split("::")[-1].strip()
        if not _EXPRESSION.match(name) or base not in known:
            raise refusal(f"The source has no kernel {name!r}; it has {listed}.", None)


def _instances(name: str) -> str:
    return (
        f"Name the instances: module = cp.RawModule(code=..., name_expressions=['{name}<...>']), "
        f"then module.get_function('{name}<...>')."
    )


def _epilogue(
    names: tuple[str, ...], found: tuple[KernelText, ...], variables: Mapping[str, VariableText],
    *, asked_for: bool,
) -> str:  # fmt: skip
    """Return what offers kernels and variables. Kernels that were asked for must be there."""
    bounds = _bounds(names, found)
    offers: list[str] = []
    entries: list[str] = []
    globals_: list[str] = []
    declared = dict(bounds)
    for place, name in enumerate(names):
        base = name.split("<")[0].split("::")[-1].strip()
        kernel = next(kernel for kernel in found if kernel.name == base)
        bound = launch_bounds.value(base, name) if base in bounds else "0"
        text = _quoted(kernel.parameters)
        lines = f"{kernel.line}, {kernel.last_line}"
        offer = f'LEARNML_ENTRY({place}, ({name}), "{name}", "{text}", ({bound}), {lines})'
        condition = "1" if asked_for else f"defined {_SEEN}{base}"
        offers += _if(condition, *filter(None, [declared.pop(base, "")]), offer)
        entries += _if(condition, f"learnml_entry_{place}(),")
    for place, (name, variable) in enumerate(variables.items()):
        offer = f'LEARNML_VARIABLE({place}, {name}, "{name}", {int(variable.constant)})'
        offers += _if(f"defined {_SEEN}{name}", offer)
        globals_ += _if(f"defined {_SEEN}{name}", f"learnml_variable_{place}(),")
    some = " || ".join(f"defined {_SEEN}{name}" for name in names if not asked_for) or "1"
    return "\n".join(
        (
            *_constants(variables),
            '#line 1 "kernels of the launch"',
            *_if(f"!({some})", "#error every kernel of the source is left out by #if"),
            *offers, "}",
            "LEARNML_ENTRIES = {", *entries, "{}};",
            "LEARNML_VARIABLES = {", *globals_, "{}};", "",
        )
    )  # fmt: skip


def _if(condition: str, *lines: str) -> tuple[str, ...]:
    return lines if condition == "1" else (f"#if {condition}", *lines, "#endif")


def _constants(variables: Mapping[str, VariableText]) -> list[str]:
    """Return what refuses more constant memory than there is, at the line of the last variable."""
    constant = {name: item for name, item in variables.items() if item.constant}
    sizes = [
        line for name in constant for line in _if(f"defined {_SEEN}{name}", f"+ sizeof {name}")
    ]
    last = max((max(item.lines) for item in constant.values()), default=0)
    check = f'static_assert({_CONSTANT_SUM} <= {CONSTANT_BYTES}, "{_TOO_MUCH_CONSTANT}");'
    total = ["constexpr unsigned long long", f"{_CONSTANT_SUM} = 0", *sizes, ";"]
    return [*total, f'#line {last} "{SOURCE_NAME}"', check] if sizes else []


def _bounds(names: tuple[str, ...], found: tuple[KernelText, ...]) -> dict[str, str]:
    """Return the declarations of `__launch_bounds__` by the names of the kernels that are offered.

    A name that stands for several texts, as under #if, has none.
    """
    offered = {name.split("<")[0].split("::")[-1].strip() for name in names}
    times = Counter(kernel.name for kernel in found)
    return {
        kernel.name: kernel.bound
        for kernel in found
        if kernel.bound and kernel.name in offered and times[kernel.name] == 1
    }


def _quoted(text: str) -> str:
    return re.sub(r"[^\w\s<>,*&:()\[\]+\-=.]", "?", text)
