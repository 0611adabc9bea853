# attack: 06
# tries: connect to an abstract Unix socket
# kind: reach
# alone: namespaces, landlock>=6, seccomp
import socket

try:
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(ABSTRACT_SOCKET)
        print("BREACH")
except OSError as error:
    print(error)
