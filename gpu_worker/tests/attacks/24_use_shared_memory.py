# attack: 24
# tries: read a System V segment of another process
# kind: reach
# alone: namespaces, seccomp
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(SHARED_KEY, 0, 0)
address = libc.shmat(segment, None, 0o10000) if segment >= 0 else None
if address not in (None, ctypes.c_void_p(-1).value):
    print("BREACH", ctypes.string_at(address, 4))
else:
    print(ctypes.get_errno())
