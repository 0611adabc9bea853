"""What differs in a runner that uses an NVIDIA device. Loaded only by a zygote for a device.

A device's driver needs device nodes, threads, a /proc of the runner's own and address space without
a limit. None of that reaches runs without a device: their walls carry no `DeviceWalls`.
"""
