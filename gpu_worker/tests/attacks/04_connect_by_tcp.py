# attack: 04
# tries: connect to a server on this machine by TCP
# kind: reach
# alone: namespaces, landlock>=4, seccomp
import socket

try:
    socket.create_connection(("127.0.0.1", TCP_PORT), timeout=1)
    print("BREACH")
except OSError as error:
    print(error)
