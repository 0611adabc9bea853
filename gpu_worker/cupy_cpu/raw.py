"""`RawKernel` and `RawModule`: kernels from CUDA source as the learner wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .compiler import Source
from .launching import CUDADriverError, Launcher
from .pointers import Address

_ATTRIBUTES: Final = (
    *("max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes"),
    *("num_regs", "ptx_version", "binary_version", "cache_mode_ca"),
    *("max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout"),
)


class RawKernel:
    """A kernel of CUDA source, by its name. It is built when it is made, or first called."""

    def __init__(
        self, code: str, name: str, options: tuple[str, ...] = (), backend: str = "nvrtc", *,
        translate_cucomplex: bool = False, enable_cooperative_groups: bool = False,
        jitify: Any = None, _source: Source | None = None,
    ) -> None:  # fmt: skip
        self.code = code
        self.name = self.__name__ = name
        self.options = _options(options)
        self.backend = backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self._source = _source or Source(code, self.options, ())
        self._launcher: Launcher | None = None

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0,
                 stream: Any = None) -> None:  # fmt: skip
        """Launch the kernel over a grid of blocks of threads.

        Raises:
            CompileException: the source does not compile.
            CUDADriverError: the launch was refused or stopped.
        """
        self._ready().launch(grid, block, args, shared_mem)

    def _ready(self) -> Launcher:
        if self._launcher is None:
            try:
                kernel = self._source.module().kernel(self.name)
            except KeyError as error:
                raise CUDADriverError(
                    f"CUDA_ERROR_NOT_FOUND: named symbol not found. {error.args[0]}"
                ) from None
            self._launcher = Launcher(kernel, self.name, self._source.build)
        return self._launcher

    @property
    def kernel(self) -> Any:
        return self._ready()

    def compile(self, log_stream: Any = None) -> None:
        """Build the kernel now."""
        self._ready()

    @property
    def attributes(self) -> dict[str, int]:
        """What the kernel needs; -1 for what only a device can tell."""
        known = self._ready().kernel.attributes
        return {name: known.get(name, -1) for name in _ATTRIBUTES}

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        return self._ready().kernel.max_dynamic_shared_size_bytes

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        self._ready().kernel.max_dynamic_shared_size_bytes = size

    @property
    def preferred_shared_memory_carveout(self) -> int:
        return -1

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, fraction: int) -> None:
        """A wish to a device: nothing to do here."""

    def __getattr__(self, name: str) -> Any:
        if name in _ATTRIBUTES:
            return self.attributes[name]
        raise AttributeError(f"'RawKernel' object has no attribute {name!r}")


class RawModule:
    """CUDA source with several kernels, also of templates."""

    def __init__(
        self, *, code: str | None = None, path: str | None = None, options: tuple[str, ...] = (),
        backend: str = "nvrtc", translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None, jitify: Any = None,
    ) -> None:  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if code is None:
            raise ValueError(
                "The CPU stand-in builds kernels from source: give `code`, not a cubin or PTX file."
            )
        self.code = code
        self.options = _options(options)
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self.enable_cooperative_groups = enable_cooperative_groups
        self._source = Source(code, self.options, self.name_expressions or ())
        self._kernels: dict[str, RawKernel] = {}

    def get_function(self, name: str) -> RawKernel:
        """Return a kernel by its name, or by one of the name expressions.

        Raises:
            CompileException: the source does not compile, or has no such kernel.
        """
        if name not in self._kernels:
            kernel = RawKernel(self.code, name, self.options, _source=self._source)
            kernel.compile()
            self._kernels[name] = kernel
        return self._kernels[name]

    def get_global(self, name: str) -> Address:
        """Return the address of a variable of the module.

        Raises:
            KeyError: it has no such variable.
        """
        module = self._source.module()
        address, nbytes = module.global_address(name)
        return Address(address, module, address + nbytes)

    def compile(self, log_stream: Any = None) -> None:
        """Build the module now."""
        self._source.module()


def _options(options: Any) -> tuple[str, ...]:
    if not isinstance(options, tuple):
        raise TypeError(f"Argument 'options' has incorrect type (expected tuple, got "
                        f"{type(options).__name__})")  # fmt: skip
    return tuple(str(option) for option in options)
