# attack: 26
# tries: send a signal to another process
# kind: reach
# alone: namespaces, landlock>=6, seccomp
import os

try:
    os.kill(VICTIM, 0)
    print("BREACH")
except OSError as error:
    print(error)
