# attack: 15
# tries: leave a process behind that outlives the run
# kind: reach
# always: limits (processes: 1)
import os

try:
    if os.fork() == 0:
        os.setsid()
        os._exit(0)
    os.wait()
    print("BREACH")
except OSError as error:
    print(error)
