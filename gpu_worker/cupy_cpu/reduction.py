"""`ReductionKernel`: the learner's expressions over axes that are reduced."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import arguments, generated, parameters
from .array import backing, ndarray
from .dtypes import C_NAMES
from .versions import Versions


class ReductionKernel:
    """A kernel that maps elements, reduces them along axes, and maps what is left."""

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str,
        post_map_expr: str, identity: Any, name: str = "reduce_kernel",
        reduce_type: str | None = None, reduce_dims: bool = True, preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        if not name.isidentifier():
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params = parameters.parse(in_params)
        self.out_params = parameters.parse(out_params)
        self.params = (*self.in_params, *self.out_params)
        self.nin, self.nout, self.nargs = (
            len(self.in_params), len(self.out_params), len(self.params),
        )  # fmt: skip
        self.name = self.__name__ = name
        self.reduce_type = reduce_type
        self._texts = {
            "map_expr": map_expr,
            "reduce_expr": reduce_expr,
            "post_map_expr": post_map_expr,
            "identity": "" if identity is None else str(identity),
            "preamble": preamble,
        }
        self._versions = Versions(name, self.params, options, self._code)

    def __call__(self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False,
                 stream: Any = None) -> Any:  # fmt: skip
        """Reduce broadcast arrays along axes; return the outputs.

        Raises:
            TypeError: a wrong number of arguments, a NumPy array, or a wrong dtype.
            ValueError: a wrong axis, or nothing to reduce and no identity.
        """
        if len(args) not in (self.nin, self.nargs):
            arguments.of_another_number(self.name, len(args), self.in_params)
            raise TypeError(f"Wrong number of arguments for {self.name}")
        arguments.check_on_device(self.name, args, self.params)
        given = [*args, *[None] * (self.nargs - len(args))]
        if out is not None:
            given[self.nin] = out
        types = arguments.decide_types(self.params, given, self.name)
        inputs = given[: self.nin]
        shape = np.broadcast_shapes(
            *(v.shape for p, v in zip(self.in_params, inputs, strict=True)
              if isinstance(v, ndarray) and not p.raw)
        )  # fmt: skip
        reduced = _axes(axis, len(shape))
        kept = tuple(place for place in range(len(shape)) if place not in reduced)
        result = tuple(
            1 if place in reduced else extent
            for place, extent in enumerate(shape)
            if keepdims or place in kept
        )
        outputs = [
            ndarray(result, types[p.name]) if value is None else value
            for p, value in zip(self.out_params, given[self.nin :], strict=True)
        ]
        if math.prod(result):
            count = math.prod(shape[place] for place in reduced)
            if not count and not self._texts["identity"]:
                raise ValueError(f"zero-size array to reduction operation {self.name}")
            self._launch(inputs, outputs, types, shape, (*kept, *reduced), count)
        return outputs[0] if self.nout == 1 else tuple(outputs)

    def _launch(
        self, inputs: list[Any], outputs: list[Any], types: dict[str, Any],
        shape: tuple[int, ...], order: tuple[int, ...], count: int,
    ) -> None:  # fmt: skip
        scalars = frozenset(
            p.name
            for p, value in zip(self.in_params, inputs, strict=True)
            if not isinstance(value, ndarray)
        )
        args: list[Any] = []
        for p, value in zip(self.in_params, inputs, strict=True):
            if p.name in scalars:
                args.append(types[p.name].type(value))
            else:
                spread = np.broadcast_to(backing(value), shape).transpose(order)
                given = backing(value) if p.raw else spread
                args.append(generated.array_bytes(given, raw=p.raw))
        args += [
            generated.array_bytes(backing(value), raw=p.raw, written=True)
            for p, value in zip(self.out_params, outputs, strict=True)
        ]
        total = backing(outputs[0]).size
        args += [generated.indexer_bytes(total), generated.indexer_bytes(count)]
        launcher = self._versions.launcher(types, scalars)
        launcher.launch((-(-total // 32),), (min(total, 32),), args)

    def _code(self, types: dict[str, Any], scalars: frozenset[str]) -> str:
        outputs = frozenset(p.name for p in self.out_params)
        first = types[self.out_params[0].name]
        return generated.REDUCTION.format(
            support=generated.SUPPORT,
            typedefs=generated.typedefs(self.params, types),
            declarations=generated.declarations(self.params, types, scalars, outputs),
            inputs=generated.elements(self.in_params, types, scalars, outputs, "i"),
            outputs=generated.elements(self.out_params, types, scalars, outputs, "_o"),
            name=self.name,
            reduce_type=self.reduce_type or C_NAMES[first],
            **self._texts,
        )


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    wanted = axis if isinstance(axis, tuple) else (axis,)
    places = tuple(sorted(np.lib.array_utils.normalize_axis_index(place, ndim) for place in wanted))
    if len(set(places)) != len(places):
        raise ValueError("duplicate value in 'axis'")
    return places
