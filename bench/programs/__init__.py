"""Programs of the CuPy track whose bytes `bench.bytes_moved` counts."""
