# attack: 50
# tries: lock a file that others read too: a message to a submission that runs beside
# kind: reach
# alone: seccomp
import fcntl

import numpy

with open(numpy.__file__) as file:
    for lock in (fcntl.flock, fcntl.lockf):
        try:
            lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            print("BREACH", lock.__name__)
        except OSError as error:
            print(error)
