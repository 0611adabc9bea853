# attack: 03c
# tries: copy another process's memory with process_vm_readv
# kind: reach
# alone: namespaces, landlock, seccomp
import ctypes
import platform

number = {"x86_64": 310, "aarch64": 270}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(8)
pair = ctypes.c_size_t * 2
local = pair(ctypes.addressof(buffer), 8)
remote = pair(VICTIM_ADDRESS, 8)
if libc.syscall(number, VICTIM, local, ctypes.c_long(1), remote, ctypes.c_long(1), 0) == 8:
    print("BREACH", buffer.raw)
else:
    print(ctypes.get_errno())
