# outcome: time_limit
# catalogue: 38
# limits: wall_seconds=1
import signal

import numpy as np

for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
