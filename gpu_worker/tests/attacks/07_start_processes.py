# attack: 07
# tries: start another process
# kind: reach
# always: limits (processes: 1)
import os

try:
    if os.fork() == 0:
        os._exit(0)
    print("BREACH")
except OSError as error:
    print(error)
