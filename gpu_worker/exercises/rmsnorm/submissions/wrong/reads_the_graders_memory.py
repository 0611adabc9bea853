# outcome: wrong_answer or runtime_error or flagged
# diagnosis: any
# catalogue: 19 21
# Looks for the answer in the memory and the files of other processes.
import ctypes
import os

import numpy as np

FOUND = []
for pid in {os.getppid(), 1}:
    for name in ("mem", "environ", "cmdline", "fd"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                FOUND.append(file.read(4096))
        except OSError:
            pass
    try:
        FOUND.append(ctypes.CDLL(None).ptrace(16, pid, 0, 0))
    except (OSError, AttributeError):
        pass


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        return np.zeros_like(x)

    def backward(self, dout):
        self.dgamma = np.zeros_like(self.gamma)
        return np.zeros_like(dout)
