# attack: 04b
# tries: send a datagram to this machine
# kind: reach
# alone: namespaces, seccomp
# residual: Landlock knows nothing of UDP yet
import socket

try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.connect(("127.0.0.1", UDP_PORT))
        datagrams.send(b"x")
        print("BREACH")
except OSError as error:
    print(error)
