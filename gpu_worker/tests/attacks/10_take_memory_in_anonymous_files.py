# attack: 10
# tries: hold memory in anonymous files, outside of the address space
# kind: reach
# alone: seccomp
import os

kept, data = 0, bytes(8 << 20)
try:
    for number in range(35):
        kept += os.write(os.memfd_create(str(number)), data)
except OSError as error:
    print(error)
if kept > 256 << 20:
    print("BREACH", kept)
