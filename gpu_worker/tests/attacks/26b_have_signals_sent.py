# attack: 26b
# tries: have the kernel send signals to another process when a pipe moves
# kind: reach
# alone: namespaces, seccomp
import fcntl
import os

F_SETSIG = 10
reading, _ = os.pipe()
try:
    fcntl.fcntl(reading, fcntl.F_SETOWN, VICTIM)
    fcntl.fcntl(reading, F_SETSIG, 10)
    print("BREACH")
except OSError as error:
    print(error)
