# attack: 52
# tries: be told whenever another process opens a file of Python's
# kind: reach
# alone: seccomp
import ctypes

import numpy

libc = ctypes.CDLL(None, use_errno=True)
IN_OPEN = 0x20
watcher = libc.inotify_init1(0)
if watcher >= 0 and libc.inotify_add_watch(watcher, numpy.__file__.encode(), IN_OPEN) >= 0:
    print("BREACH")
else:
    print(ctypes.get_errno())
