# attack: 61
# tries: see that a secret file exists, how large it is and when it changed
# kind: reach
# alone: namespaces
# residual: at level B sizes and times of files can be seen, their contents not
import os

try:
    print("BREACH", os.stat(SECRET).st_mtime)
except OSError as error:
    print(error)
