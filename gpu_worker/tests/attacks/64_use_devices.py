# attack: 64
# tries: send a command to a device
# kind: reach
# alone: landlock>=5, seccomp
import fcntl
import os

RNDADDTOENTCNT = 0x40045201
RNDGETENTCNT = 0x80045200
descriptor = os.open("/dev/urandom", os.O_RDONLY)
try:
    fcntl.ioctl(descriptor, RNDGETENTCNT, bytes(4))
    print("BREACH")
except OSError as error:
    print(error)
