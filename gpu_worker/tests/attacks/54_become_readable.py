# attack: 54
# tries: let itself be traced and dumped again
# kind: reach
# alone: seccomp
import ctypes

PR_SET_DUMPABLE, PR_GET_DUMPABLE = 4, 3
libc = ctypes.CDLL(None)
libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
if libc.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1:
    print("BREACH")
