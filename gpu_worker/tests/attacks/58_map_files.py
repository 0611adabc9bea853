# attack: 58
# tries: map a secret file into memory with NumPy
# kind: reach
# alone: namespaces, landlock
import numpy as np

try:
    print("BREACH", bytes(np.memmap(SECRET, dtype=np.uint8, mode="r")[:4]))
except OSError as error:
    print(error)
