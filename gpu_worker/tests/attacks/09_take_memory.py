# attack: 09
# tries: take two gigabytes of memory
# kind: reach
# always: limits (address space)
import numpy as np

try:
    taken = np.empty(2 << 30, dtype=np.uint8)
    print("BREACH", taken.nbytes)
except MemoryError as error:
    print(error)
