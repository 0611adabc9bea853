# attack: 35
# tries: raise the limits, then take memory
# kind: reach
# always: limits (hard ones, no capability)
import resource

import numpy as np

unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
for name in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
    try:
        resource.setrlimit(name, unlimited)
    except (OSError, ValueError) as error:
        print(error)
try:
    print("BREACH", np.empty(2 << 30, dtype=np.uint8).nbytes)
except MemoryError as error:
    print(error)
