# attack: 19
# tries: search the interpreter's frames and objects for the expected result
# kind: judge
# always: the judge is another process
# outcome: wrong_answer or contract_error
import gc
import sys

import numpy as np


def hunt():
    frame = sys._getframe()
    while frame is not None:
        for name, value in frame.f_locals.items():
            if "expected" in name:
                return value
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "expected_output" in thing:
            return thing["expected_output"]
    return None


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim, dtype=np.float32)
        self.dgamma = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        return hunt() if hunt() is not None else x

    def backward(self, dout):
        return np.zeros_like(dout)
