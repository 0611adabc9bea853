# attack: 05
# tries: connect to a server's socket in the file system, as a database's or Docker's
# kind: reach
# alone: namespaces, seccomp
import socket

try:
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(UNIX_SOCKET)
        print("BREACH")
except OSError as error:
    print(error)
