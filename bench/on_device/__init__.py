"""What only a device can tell of the reference kernels: right or wrong, and how fast.

`python bench/device.py` runs it all within a budget of time and writes `results/device.json`;
`python -m bench.device_table` makes the table and the picture. Needs NumPy and CuPy beside this
repository, for bfloat16 ml_dtypes; torch, triton and liger-kernel are measured where they are
installed. Everything that touches the device goes through `api.Device`.
"""
