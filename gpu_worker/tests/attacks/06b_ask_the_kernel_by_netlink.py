# attack: 06b
# tries: open a netlink socket, a large part of the kernel
# kind: reach
# alone: seccomp
import socket

try:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    print("BREACH")
except OSError as error:
    print(error)
