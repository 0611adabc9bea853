# attack: 53
# tries: open its own descriptors anew with other rights, through /proc
# kind: reach
# alone: namespaces
# residual: at level B its own can be reopened; the job stays sealed
import os

for number in (1, JOB, RESULT):
    try:
        os.open(f"/proc/self/fd/{number}", os.O_RDWR)
        print("BREACH", number)
    except OSError as error:
        print(error)
