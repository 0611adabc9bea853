# attack: 02
# tries: read another process's environment
# kind: reach
# alone: namespaces, landlock
try:
    with open(f"/proc/{VICTIM}/environ", "rb") as file:
        if b"VICTIM_SECRET" in file.read():
            print("BREACH")
except OSError as error:
    print(error)
