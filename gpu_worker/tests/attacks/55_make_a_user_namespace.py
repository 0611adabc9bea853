# attack: 55
# tries: become powerful in a user namespace of its own
# kind: reach
# alone: seccomp
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0:
    print("BREACH")
else:
    print(ctypes.get_errno())
