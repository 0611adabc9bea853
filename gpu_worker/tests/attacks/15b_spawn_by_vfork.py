# attack: 15b
# tries: start a process with vfork, as posix_spawn does
# kind: reach
# always: limits (processes: 1)
import os
import sys

try:
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-V"], {}), 0)
    print("BREACH")
except OSError as error:
    print(error)
