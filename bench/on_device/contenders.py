"""What is timed: a copy, this project's own layers, and those of PyTorch and Liger if installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.on_device.api import Device
from bench.on_device.inputs import InputSet
from bench.on_device.plan import Cell
from bench.on_device.timing import COPY, Contender

EPS: Final = 1e-6
FUSED: Final = "fused CuPy"
PLAIN: Final = "plain CuPy"
CLASSES: Final = {"rmsnorm": "RMSNormScratch", "layernorm": "LayerNormScratch"}


@dataclass(frozen=True, slots=True)
class Kind:
    """One contender of every cell. `needs` is the package that must be there.

    `dear` marks what takes seconds to prepare, and is left out first.
    """

    name: str
    needs: str
    make: Callable[[Device, Cell, Sequence[InputSet]], list[Callable[[], Any]]]
    dear: bool = False


def installed(kind: Kind) -> bool:
    """True if the package that a contender needs is here. CuPy always is."""
    return not kind.needs or importlib.util.find_spec(kind.needs) is not None


def copy_of_least_bytes(device: Device, cell: Cell, sets: Sequence[InputSet]) -> Contender:
    """Return the yardstick: a copy that moves the cell's least bytes, half of them each way."""
    nbytes = cell.least_bytes // 2
    target, other = (device.xp.empty(nbytes, device.xp.uint8) for _ in range(2))

    def run() -> Any:
        device.copy(target, other)
        return target

    return Contender(COPY, [run for _ in sets])


# --- this project's own --------------------------------------------------------------------------
def layer_calls(module: str) -> Callable[[Device, Cell, Sequence[InputSet]], list[Any]]:
    """Return the maker of calls for the class in a module of the exercise's folder."""

    def make(device: Device, cell: Cell, sets: Sequence[InputSet]) -> list[Callable[[], Any]]:
        found = importlib.import_module(f"gpu_worker.exercises.{cell.exercise}.{module}")
        cls = getattr(found, CLASSES[cell.exercise])
        return [_layer_call(cls(cell.dim, EPS), cell, each) for each in sets]

    return make


def _layer_call(layer: Any, cell: Cell, inputs: InputSet) -> Callable[[], Any]:
    layer.gamma = inputs.gamma
    if cell.exercise == "layernorm":
        layer.beta = inputs.beta
    if cell.direction == "forward":
        return lambda: layer.forward(inputs.x)
    layer.forward(inputs.x)
    return lambda: layer.backward(inputs.dout)


# --- PyTorch and Liger ---------------------------------------------------------------------------
def _torch_calls(
    device: Device,
    cell: Cell,
    sets: Sequence[InputSet],
    forward: Callable[[Any, Any, Any], Any],
) -> list[Callable[[], Any]]:
    torch = importlib.import_module("torch")
    calls: list[Callable[[], Any]] = []
    for inputs in sets:
        x, dout, gamma, beta = (
            _as_tensor(torch, device, array)
            for array in (inputs.x, inputs.dout, inputs.gamma, inputs.beta)
        )
        parameters = [gamma, beta] if cell.exercise == "layernorm" else [gamma]
        if cell.direction == "forward":
            calls.append(_without_gradients(torch, forward, x, gamma, beta))
            continue
        leaves = [tensor.requires_grad_() for tensor in (x, *parameters)]
        y = forward(x, gamma, beta)
        calls.append(_gradients(torch, y, leaves, dout))
    return calls


def _without_gradients(torch: Any, forward: Any, *tensors: Any) -> Callable[[], Any]:
    def run() -> Any:
        with torch.no_grad():
            return forward(*tensors)

    return run


def _gradients(torch: Any, y: Any, leaves: list[Any], dout: Any) -> Callable[[], Any]:
    return lambda: torch.autograd.grad(y, leaves, dout, retain_graph=True)[0]


def _as_tensor(torch: Any, device: Device, array: Any) -> Any:
    """Return a tensor in the same memory. bfloat16 goes as its bits: not every version knows it."""
    if array.dtype.name != "bfloat16":
        return torch.from_dlpack(array)
    return torch.from_dlpack(array.view(device.xp.int16)).view(torch.bfloat16)


def _functional(cell: Cell) -> Callable[[Any, Any, Any], Any]:
    functional = importlib.import_module("torch.nn.functional")
    shape = (cell.dim,)
    if cell.exercise == "rmsnorm":
        return lambda x, gamma, beta: functional.rms_norm(x, shape, gamma, EPS)
    return lambda x, gamma, beta: functional.layer_norm(x, shape, gamma, beta, EPS)


def _torch(device: Device, cell: Cell, sets: Sequence[InputSet]) -> list[Callable[[], Any]]:
    return _torch_calls(device, cell, sets, _functional(cell))


def _compiled(device: Device, cell: Cell, sets: Sequence[InputSet]) -> list[Callable[[], Any]]:
    torch = importlib.import_module("torch")
    # The same backward pass is asked for again and again, so its buffers cannot be given away.
    settings: Any = importlib.import_module("torch._functorch.config")
    settings.donated_buffer = False
    torch.compiler.reset()
    return _torch_calls(device, cell, sets, torch.compile(_functional(cell), dynamic=False))


def _liger(device: Device, cell: Cell, sets: Sequence[InputSet]) -> list[Callable[[], Any]]:
    if cell.exercise == "rmsnorm":
        rms = importlib.import_module("liger_kernel.ops.rms_norm").LigerRMSNormFunction
        # Not in place: the gradient would be written over dout, which the next call reads.
        return _torch_calls(
            device, cell, sets, lambda x, g, b: rms.apply(x, g, EPS, 0.0, "llama", False)
        )
    layer = importlib.import_module("liger_kernel.ops.layer_norm").LigerLayerNormFunction
    return _torch_calls(device, cell, sets, lambda x, g, b: layer.apply(x, g, b, EPS))


KINDS: Final = (
    Kind(FUSED, "", layer_calls("fused_cupy")),
    Kind(PLAIN, "", layer_calls("reference_cupy")),
    Kind("torch.nn.functional", "torch", _torch),
    Kind("Liger", "liger_kernel", _liger),
    Kind("torch.compile", "torch", _compiled, dear=True),
)
