"""Options of CuPy's RawKernel and RawModule: accepted and refused as by NVRTC 13.

Most mean nothing on a processor. Those that change the source do: macros, and headers that are
included before its first line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gpu_worker.cuda_cpu.errors import CompileError, refusal
from gpu_worker.cuda_cpu.frontend import cleaning, headers, nvrtc_options, rules

_MACRO: Final = re.compile(
    r"(?P<name>[A-Za-z_]\w*)(?P<parameters>\([\w ,.]*\))?(?:=(?P<value>.*))?\Z", re.ASCII
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_LEVEL: Final = re.compile(r"--?O(?:\d|s|fast)?\Z")
_ATTACHED: Final = re.compile(r"(-D|-U|-I)(.*)\Z", re.DOTALL)
_LONG: Final = {
    "--define-macro": "-D", "--undefine-macro": "-U", "--include-path": "-I",
    "--pre-include": "-include", "-include": "-include",
}  # fmt: skip
_NVRTC: Final = "NVRTC, which compiles kernels for CuPy,"


@dataclass(frozen=True, slots=True)
class Options:
    """`macros` are `#define` and `#undef` in their order, `headers` those that come before a
    source's first line; `device` are the words that a device's compiler has to be given as well.
    """

    macros: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    device: tuple[str, ...] = ()

    @property
    def before(self) -> tuple[str, ...]:
        """What a source gets to see before its first line."""
        return (*self.headers, *self.macros)


class _Reader:
    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._macros: list[str] = []
        self._headers: list[str] = []
        self._device: list[str] = []
        self._seen: list[str] = []

    def read(self) -> Options:
        while self._words:
            # NVRTC does the same.
            self._take(self._words.pop(0).strip(" \t"))
        for one, other in nvrtc_options.APART:
            if one in self._seen and other in self._seen:
                raise refusal(f"{_NVRTC} does not take {one} and {other} together.", None)
        return Options(tuple(self._macros), tuple(self._headers), tuple(self._device))

    def _take(self, word: str) -> None:
        attached = _ATTACHED.match(word)
        name, given, value = word.partition("=")
        if name in _LONG:
            self._reach(_LONG[name], name, value if given else self._next(name))
        elif attached:
            value = attached[2].strip(" \t")
            if attached[1] != "-I":
                value = value or self._next(attached[1])
            elif not value and self._words:
                self._words.pop(0)
            self._reach(attached[1], attached[1], value)
        else:
            self._take_known(word, nvrtc_options.spelled(name), given, value)

    def _take_known(self, word: str, name: str, given: str, value: str) -> None:
        if name in nvrtc_options.FLAGS:
            if given and name not in ("--no-cache", "--enable-cache-trace"):
                raise refusal(f"{_NVRTC} takes no value for {name}: write {name} alone.", None)
            if name == "--numba-debug" and "--device-debug" not in self._seen_with(self._words):
                raise refusal(f"{_NVRTC} takes {name} together with --device-debug only.", None)
            self._note(name, word, for_code=nvrtc_options.FLAGS[name])
        elif name in nvrtc_options.CHOICES:
            choice = nvrtc_options.CHOICES[name]
            if not given and not choice.apart:
                raise refusal(f"{_NVRTC} takes for {name} {choice.says}.", None)
            value = value if given else self._next(name)
            if not choice.allows(value):
                raise refusal(
                    f"{_NVRTC} does not take {value[:100]!r} for {name}, but {choice.says}.", None
                )
            self._note(f"{name}={value}", f"{name}={value}", for_code=choice.for_code)
        elif name in nvrtc_options.ALONE:
            raise refusal(
                f"{_NVRTC} knows the option {name}, and ends in an error with it: "
                f"{nvrtc_options.ALONE[name]}. Leave it out.",
                None,
            )
        else:
            raise refusal(_unknown(word), None)

    def _seen_with(self, rest: Sequence[str]) -> list[str]:
        return [*self._seen, *(nvrtc_options.LONG.get(word, word) for word in rest)]

    def _note(self, known: str, word: str, *, for_code: bool) -> None:
        name, given, value = known.partition("=")
        name = nvrtc_options.LONG.get(name, name)
        self._seen += [f"{name}{given}{value}", name]
        if for_code:
            self._device.append(word)

    def _next(self, name: str) -> str:
        if not self._words:
            # CuPy appends arguments of its own, and NVRTC would take the first one as the value.
            raise refusal(f"The option {name} stands last, and its value is missing.", None)
        return self._words.pop(0)

    def _reach(self, kind: str, name: str, value: str) -> None:
        if kind == "-D":
            self._macros.append(_defined(value))
            self._device.append(f"-D{value}")
        elif kind == "-U":
            self._macros.append(_undefined(value))
            self._device.append(f"-U{value}")
        elif kind == "-include":
            why = headers.why_not(value)
            if why:
                raise refusal(f"The option {name}={value[:100]!r}: {why}", None)
            self._headers.append(value)
            self._device.append(f"--pre-include={value}")


def read(words: Sequence[str]) -> Options:
    """Return what options mean.

    Raises:
        CompileError: NVRTC would refuse one of them, or it asks for what is not offered here.
    """
    return _Reader(words).read()


def _defined(text: str) -> str:
    macro = _MACRO.match(text)
    if not macro:
        raise refusal(
            f"The macro {text[:100]!r} of an option is not taken here: write -DNAME, -DNAME=value "
            "or -DNAME(a,b)=value.",
            None,
        )
    value = "1" if macro["value"] is None else macro["value"]
    return _checked(f"#define {macro['name']}{macro['parameters'] or ''} {value}", text)


def _undefined(text: str) -> str:
    if not _NAME.match(text):
        raise refusal(f"The macro {text[:100]!r} cannot be undefined: -UNAME names one.", None)
    return _checked(f"#undef {text}", text)


def _checked(line: str, text: str) -> str:
    """Return a directive as a source may have it, in one line and without comments.

    Raises:
        CompileError: no source may have it.
    """
    try:
        cleaned = cleaning.clean(line)
        rules.check(cleaned)
    except CompileError as error:
        why = error.diagnostics[0].message
        raise refusal(
            f"The macro {text[:100]!r} of an option is not taken here: {why}", None
        ) from None
    if len(cleaned.directives) != 1 or "\n" in cleaned.text:
        raise refusal(f"The macro {text[:100]!r} of an option is not taken here.", None)
    return cleaned.text.rstrip(" \\\t")


def _unknown(word: str) -> str:
    name = word.partition("=")[0]
    text = f"{_NVRTC} does not know the option {word[:100]!r}. "
    if _LEVEL.match(name):
        level = name.lstrip("-")
        level = level if level[1:].isdigit() else "O3"
        return text + (
            "It optimises in any case: leave it out. What the assembler does can be chosen, as in "
            f"--ptxas-options=-{level}, and sums are faster and less exact with --use_fast_math."
        )
    if name in nvrtc_options.OF_NVCC:
        return text + "It is one of nvcc's: leave it out."
    known = [*nvrtc_options.FLAGS, *nvrtc_options.CHOICES, *_LONG]
    near = difflib.get_close_matches(name[:60], known, n=1, cutoff=0.7)
    return text + (f"Was {near[0]} meant?" if near else "Leave it out.")
