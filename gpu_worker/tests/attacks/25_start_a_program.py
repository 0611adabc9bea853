# attack: 25
# tries: replace itself by a program
# kind: reach
# alone: landlock, seccomp
import os
import sys

for command in (
    [sys.executable, "-I", "-S", "-c", "print('BREACH')"],
    ["/bin/sh", "-c", "echo BREACH"],
):
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(error)
