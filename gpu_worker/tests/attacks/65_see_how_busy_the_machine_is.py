# attack: 65
# tries: see how busy this machine is, and how much memory others use
# kind: reach
# alone: seccomp
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
# The kernel fills a structure of uptime, loads and memory.
if libc.sysinfo(ctypes.create_string_buffer(512)) == 0:
    print("BREACH")
print(os.strerror(ctypes.get_errno()))
