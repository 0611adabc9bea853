# attack: 03b
# tries: attach to another process as a debugger
# kind: reach
# alone: namespaces, landlock, seccomp
import ctypes

PTRACE_SEIZE = 0x4206
libc = ctypes.CDLL(None, use_errno=True)
arguments = [ctypes.c_long(value) for value in (PTRACE_SEIZE, VICTIM, 0, 0)]
if libc.ptrace(*arguments) == 0:
    print("BREACH")
else:
    print(ctypes.get_errno())
