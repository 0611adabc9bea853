"""The page about the reference kernels on a device, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from bench.on_device.plan import DIRECTIONS, DTYPES, EXERCISES
from bench.on_device.timing import COPY

TITLES: Final = {"rmsnorm": "RMSNorm", "layernorm": "LayerNorm"}
_HEAD: Final = """\
# The reference kernels on a device

Made by `python -m bench.device_table` from what `python bench/device.py` measured; not to be
edited by hand.
"""
_NOT_RUN: Final = """
**Not yet run on a device.** No machine with an NVIDIA GPU was at hand, so there are no times here,
and none are guessed.

What was checked instead, on a processor:

- every reference kernel gives the right results in the CPU executor, see
  [the CuPy track](../explanation/cupy-track.md);
- what NVIDIA's compiler needs for each kernel, in registers and shared memory, is measured without
  a device by `python -m bench kernels_registers`;
- submissions are graded through the sandbox and the judge around a stand-in for the driver, and
  the cheats stored for a device are graded on a processor;
- the control flow of the device's script is tested against a stand-in, whose times are thrown away:
  results are only written where the NVIDIA driver knows the device that they name.

With a device, NumPy and CuPy, `python bench/device.py` fills this page in less than eight minutes.
"""
_HOW: Final = """
## Times

Each figure is the share of a device copy's bandwidth: the time of a copy that moves the same least
bytes (forward: x and y; backward: x, dout and dx), divided by the time of the call. It is the
median of the ratios within repeats, ± half the distance of their quartiles. Copy and contenders
take turns in random order, on fresh inputs, with caches cleared; a call moves 0.5 GB and more.
A dash was not measured: see "Left out".
"""


def render(results: Mapping[str, Any] | None) -> str:
    """Return the page of these results, or the page that says that there are none."""
    if results is None:
        return _HEAD + _NOT_RUN
    parts = [_HEAD, _summary(results), _HOW, "\n![Share of a copy's bandwidth over the length of a "
             "row](../images/device.svg)\n"]  # fmt: skip
    for exercise in EXERCISES:
        for direction in DIRECTIONS:
            for dtype in DTYPES:
                parts.append(_table(results["times"], exercise, direction, dtype))
    parts.append(_failures(results))
    parts.append(_left_out(results["left_out"]))
    return "".join(parts)


def contenders(times: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of all that was timed, in the order of their first appearance."""
    names: dict[str, None] = {}
    for cell in times:
        names.update(dict.fromkeys(name for name in cell["times"] if name != COPY))
    return list(names)


def _summary(results: Mapping[str, Any]) -> str:
    device, right, agreed = results["device"], results["correctness"], results["agreement"]
    programs = agreed["programs"].values()
    packages = ", ".join(f"{name} {version}" for name, version in results["packages"].items())
    verdict = "all within the judge's tolerance" if not right["failed"] else (
        f"**{right['failed']} outside the judge's tolerance**")  # fmt: skip
    agreement = "agrees" if agreed["agree"] else "**does not agree**"
    graded = results.get("grading", {"submissions": {}, "of": 0, "wrong": []})
    ended = "as they must" if not graded["wrong"] else f"**{len(graded['wrong'])} otherwise**"
    return (
        f"\n{device['name']}, compute capability {device['compute_capability']}, "
        f"{device['multiprocessors']} multiprocessors, {device['memory_bytes'] / 2**30:.0f} GiB, "
        f"driver for CUDA {device['driver']}, runtime {device['runtime']}, CuPy {device['cupy']}, "
        f"Python {results['python']}, {packages}. {results['began_at']}, "
        f"{results['seconds']:.0f} s, seed {results['seed']}.\n\n"
        f"- Correctness: {right['cases']} of {right['of']} cases over {len(right['kernels'])} "
        f"kernels, {verdict}.\n"
        f"- The CPU executor {agreement} with the device: {sum(p['results'] for p in programs)} "
        f"results of {len(programs)} stored programs, "
        f"{sum(p['identical'] for p in programs)} of them the same bit for bit.\n"
        f"- Grading through sandbox and judge: {len(graded['submissions'])} of {graded['of']} "
        f"stored submissions, {ended}.\n"
    )


def _table(times: Iterable[Mapping[str, Any]], exercise: str, direction: str, dtype: str) -> str:
    wanted = {"exercise": exercise, "direction": direction, "dtype": dtype}
    cells = [cell for cell in times if wanted.items() <= cell.items()]
    names = contenders(cells)
    if not names:
        return ""
    lines = [
        f"\n### {TITLES[exercise]}, {direction}, {dtype}\n",
        f"| D | rows | copy, GB/s | {' | '.join(names)} |",
        f"|--:|--:|--:|{'--:|' * len(names)}",
    ]
    for cell in sorted(cells, key=lambda each: each["dim"]):
        rate = cell.get("copy_gigabytes_per_second")
        figures = " | ".join(_figure(cell["times"].get(name)) for name in names)
        lines.append(
            f"| {cell['dim']:,} | {cell['rows']:,} | {'–' if rate is None else f'{rate:,.0f}'} "
            f"| {figures} |"
        )
    return "\n".join(lines) + "\n"


def _figure(measured: Mapping[str, Any] | None) -> str:
    if measured is None:
        return "–"
    if measured["refused"]:
        return "refused"
    return f"{measured['of_copy']:.1%} ± {measured['of_copy_spread']:.1%}"


def _failures(results: Mapping[str, Any]) -> str:
    lines = [f"- {text}" for text in results["correctness"]["failures"]]
    for program, found in results["agreement"]["programs"].items():
        lines += [f"- {program}: {text}" for text in found["differences"][:5]]
    graded = results.get("grading", {"submissions": {}, "wrong": []})
    lines += [
        f"- {name} must end as {' or '.join(graded['submissions'][name]['expected'])}, and ended "
        f"as {graded['submissions'][name]['outcome']}"
        for name in graded["wrong"]
    ]
    for cell in results["times"]:
        where = f"{cell['exercise']} {cell['direction']} {cell['dtype']} D {cell['dim']}"
        lines += [f"- {name}, {where}: {why}" for name, why in cell["failed"].items()]
        lines += [
            f"- {name}, {where}: off by {share:g} times the judge's limit, timed nevertheless"
            for name, share in cell["inexact"].items()
        ]
        lines += [
            f"- {name}, {where}: refused, {measured['refused']}"
            for name, measured in cell["times"].items()
            if measured["refused"]
        ]
    return "\n## Failures\n\n" + ("\n".join(lines) if lines else "None.") + "\n"


def _left_out(texts: Iterable[str]) -> str:
    lines = [f"- {text}" for text in texts]
    return "\n## Left out\n\n" + ("\n".join(lines) if lines else "Nothing.") + "\n"
