"""Count what a GPU would move for array expressions: one kernel for each operation."""

from __future__ import annotations

import numpy as np


class Memory:
    """The memory of a device: it adds up what kernels read and write, in bytes."""

    def __init__(self) -> None:
        self.read = self.written = self.launches = 0

    def array(self, values) -> Counted:
        """Put values on the device, as float32; what is there already costs nothing."""
        return Counted(self, np.asarray(values, dtype=np.float32))

    def launch(self, inputs, values) -> Counted:
        """One kernel: it reads each of its arrays once and writes its result."""
        arrays = {id(one): one for one in inputs if isinstance(one, Counted)}
        result = self.array(values)
        self.read += sum(one.values.nbytes for one in arrays.values())
        self.written += result.values.nbytes
        self.launches += 1
        return result


class Counted:
    """A NumPy array that lives on a device; each operation is a kernel of its own."""

    def __init__(self, memory: Memory, values: np.ndarray) -> None:
        self.memory, self.values = memory, values

    def _with(self, other, operation) -> Counted:
        right = other.values if isinstance(other, Counted) else np.float32(other)
        return self.memory.launch((self, other), operation(self.values, right))

    def __add__(self, other) -> Counted:
        return self._with(other, np.add)

    def __sub__(self, other) -> Counted:
        return self._with(other, np.subtract)

    def __mul__(self, other) -> Counted:
        return self._with(other, np.multiply)

    def __truediv__(self, other) -> Counted:
        return self._with(other, np.divide)

    def root(self) -> Counted:
        return self.memory.launch((self,), self.values**0.5)

    def mean(self) -> Counted:
        """The mean of each row, with the axis kept."""
        return self.memory.launch((self,), self.values.mean(axis=-1, keepdims=True))

    def sum_of_rows(self) -> Counted:
        return self.memory.launch((self,), self.values.sum(axis=0))


def rmsnorm(x, gamma, eps=1e-6):
    mean_square = (x * x).mean()
    rms = (mean_square + eps).root()
    return x / rms * gamma


def layernorm(x, gamma, beta, eps=1e-6):
    centred = x - x.mean()
    variance = (centred * centred).mean()
    deviation = (variance + eps).root()
    return centred / deviation * gamma + beta


def rmsnorm_gradient(x, rstd, gamma, dout):
    xhat = x * rstd
    dgamma = (dout * xhat).sum_of_rows()
    weighted = dout * gamma
    mean = (weighted * xhat).mean()
    return (weighted - xhat * mean) * rstd, dgamma


def report(name, rows, dim, call, arrays):
    memory = Memory()
    shapes = {"x": (rows, dim), "dout": (rows, dim), "rstd": (rows, 1)}
    rng = np.random.default_rng(0)
    inputs = [memory.array(rng.random(shapes.get(one, dim)) + 0.5) for one in arrays.split()]
    call(*inputs)
    size = 4 * rows * dim
    times = (memory.read + memory.written) / size
    print(f"{name:18}{rows:3} x {dim}{memory.launches:9}{memory.read:12,}{memory.written:12,}"
          f"{times:8.2f}")


if __name__ == "__main__":
    print("array expression    shape    launches        read     written   times x")
    report("RMSNorm", 16, 1024, rmsnorm, "x gamma")
    report("LayerNorm", 16, 1024, layernorm, "x gamma beta")
    report("RMSNorm gradient", 64, 1024, rmsnorm_gradient, "x rstd gamma dout")
