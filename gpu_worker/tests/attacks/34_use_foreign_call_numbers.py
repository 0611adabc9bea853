# attack: 34
# tries: make kernel calls by another architecture's numbers, which the filter does not list
# kind: reach
# alone: seccomp
# machine: x86_64
import ctypes

# The x32 numbering: bit 30, here for getpid.
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.syscall(ctypes.c_long(0x40000000 + 39))
print("BREACH the program was not killed")
