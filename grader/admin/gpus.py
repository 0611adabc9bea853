"""A worker's NVIDIA devices as text, for operators."""

from __future__ import annotations

from typing import Any, Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from grader.models import WorkerNode

# Label, key, unit.
_FACTS: Final = (
    ("Compute capability", "compute_capability", ""),
    ("Driver", "driver", ""),
    ("CUDA runtime", "cuda", ""),
    ("Newest CUDA of the driver", "cuda_of_driver", ""),
    ("CuPy", "cupy", ""),
    ("Memory", "memory_megabytes", "MB"),
    ("Free memory", "free_megabytes", "MB"),
    ("Copy bandwidth", "copy_gigabytes_per_second", "GB/s"),
    ("Temperature", "temperature_celsius", "°C"),
    ("SM clock", "sm_clock_megahertz", "MHz"),
    ("Memory clock", "memory_clock_megahertz", "MHz"),
)


def shown_gpus(node: WorkerNode) -> SafeString:
    """Show each device with its state, identity and readings; missing values stay missing."""
    if not node.gpus:
        return format_html("<p>{}</p>", "This worker reports no NVIDIA device.")
    return format_html_join("", "{}", ((_shown(gpu),) for gpu in node.gpus))


def state_text(gpu: dict[str, Any]) -> str:
    """Explain a device's state in a sentence."""
    if gpu["state"] == "quarantined":
        return (
            f"In quarantine after {gpu['failures']} failed probes: {gpu['reason']} It is tried "
            f"again {gpu['retry_in_seconds']:.0f} s after this report."
        )
    return {
        "ready": "Ready: its last probe passed.",
        "busy": "In use by another process of its machine.",
    }.get(gpu["state"], "Not probed yet.")


def _shown(gpu: dict[str, Any]) -> SafeString:
    facts = [
        (label, f"{gpu[key]} {unit}".strip() if gpu.get(key) not in (None, "") else "not known")
        for label, key, unit in _FACTS
    ]
    rows = format_html_join("", "<tr><th scope='row'>{}</th><td>{}</td></tr>", facts)
    return format_html(
        "<section><h3>{} ({})</h3><p>{}</p><table>{}</table></section>",
        *(gpu["name"], gpu["uuid"], state_text(gpu), rows),
    )
