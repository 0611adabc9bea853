# attack: 01
# tries: read a secret file and the list of users
# kind: reach
# alone: namespaces, landlock
# residual: what is bound in can be read: Python, NumPy and the C library
for path in (SECRET, "/etc/passwd"):
    try:
        with open(path, "rb") as file:
            print("BREACH read", path, file.read(4))
    except OSError as error:
        print(error)
