# attack: 10b
# tries: hold memory in enlarged pipes
# kind: reach
# alone: seccomp
import fcntl
import os

try:
    print("BREACH", fcntl.fcntl(os.pipe()[1], fcntl.F_SETPIPE_SZ, 1 << 20))
except OSError as error:
    print(error)
