"""`ElementwiseKernel`: the learner's expression over every element."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import arguments, generated, parameters
from .array import backing, ndarray
from .versions import Versions

_BLOCK: Final = 32
_MAX_BLOCKS: Final = 8
"""Each thread takes many elements: more threads would only be slower on a processor."""
_MAX_SHARED_BLOCKS: Final = 19
"""Where threads may write each other's elements: with a number of threads that rows are a multiple
of, each thread would always meet its own columns again.
"""


class ElementwiseKernel:
    """A kernel over the elements of broadcast arrays, built for the dtypes that it meets."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel",
        reduce_dims: bool = True, preamble: str = "", no_return: bool = False,
        return_tuple: bool = False, *, loop_prep: str = "", after_loop: str = "",
        options: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        if not name.isidentifier():
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params = parameters.parse(in_params)
        self.out_params = parameters.parse(out_params)
        self.params = (*self.in_params, *self.out_params)
        if any(p.name == "i" for p in self.params):
            raise ValueError("Can not use 'i' as a parameter name")
        self.nin, self.nout, self.nargs = (
            len(self.in_params), len(self.out_params), len(self.params),
        )  # fmt: skip
        self.operation = operation
        self.name = self.__name__ = name
        self.no_return, self.return_tuple = no_return, return_tuple
        self._texts = {"preamble": preamble, "loop_prep": loop_prep, "after_loop": after_loop}
        self._versions = Versions(name, self.params, options, self._code)

    def __call__(self, *args: Any, size: int = -1, block_size: int = 128,
                 stream: Any = None) -> Any:  # fmt: skip
        """Apply the kernel to broadcast arrays; return the outputs.

        Raises:
            TypeError: a wrong number of arguments, a NumPy array, or a wrong dtype.
            ValueError: the size is not known, or an output has another shape.
        """
        if len(args) not in (self.nin, self.nargs):
            arguments.of_another_number(self.name, len(args), self.in_params)
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        arguments.check_on_device(self.name, args, self.params)
        given = [*args, *[None] * (self.nargs - len(args))]
        types = arguments.decide_types(self.params, given, self.name)
        shape = self._shape(given, size)
        outputs = [
            ndarray(shape, types[p.name]) if value is None else value
            for p, value in zip(self.out_params, given[self.nin :], strict=True)
        ]
        if all(shape):
            self._launch([*given[: self.nin], *outputs], types, shape)
        if self.no_return:
            return None
        return outputs[0] if self.nout == 1 and not self.return_tuple else tuple(outputs)

    def _shape(self, given: list[Any], size: int) -> tuple[int, ...]:
        if size != -1:
            return (size,)
        shapes = [
            value.shape
            for p, value in zip(self.params, given, strict=True)
            if isinstance(value, ndarray) and not p.raw
        ]
        if not shapes:
            raise ValueError("Loop size is undecided: give size=, or an array that is not raw.")
        shape = np.broadcast_shapes(*shapes)
        for p, value in zip(self.out_params, given[self.nin :], strict=True):
            if value is not None and not p.raw and value.shape != shape:
                raise ValueError(f"Output shape is mismatched: {value.shape} instead of {shape}.")
        return shape

    def _launch(self, values: list[Any], types: dict[str, Any], shape: tuple[int, ...]) -> None:
        scalars = frozenset(
            p.name
            for p, value in zip(self.params, values, strict=True)
            if not isinstance(value, ndarray)
        )
        args = [
            _argument(p, v, types[p.name], shape, written=place >= self.nin)
            for place, (p, v) in enumerate(zip(self.params, values, strict=True))
        ]
        count = int(np.prod(shape))
        most = _MAX_SHARED_BLOCKS if any(p.raw for p in self.out_params) else _MAX_BLOCKS
        blocks = min(most, -(-count // _BLOCK))
        launcher = self._versions.launcher(types, scalars)
        launcher.launch((blocks,), (_BLOCK,), [*args, generated.indexer_bytes(count)])

    def _code(self, types: dict[str, Any], scalars: frozenset[str]) -> str:
        outputs = frozenset(p.name for p in self.out_params)
        return generated.ELEMENTWISE.format(
            support=generated.SUPPORT,
            typedefs=generated.typedefs(self.params, types),
            declarations=generated.declarations(self.params, types, scalars, outputs),
            elements=generated.elements(self.params, types, scalars, outputs, "i"),
            name=self.name,
            operation=self.operation,
            **self._texts,
        )


def _argument(
    parameter: parameters.Parameter, value: Any, dtype: Any, shape: tuple[int, ...], *,
    written: bool,
) -> Any:  # fmt: skip
    if not isinstance(value, ndarray):
        return dtype.type(value)
    values = backing(value)
    if parameter.raw:
        return generated.array_bytes(values, raw=True, written=written)
    return generated.array_bytes(np.broadcast_to(values, shape))
