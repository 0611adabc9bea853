# attack: 36
# tries: stop itself by a signal, so that it never ends
# kind: endless
# always: the supervisor's clock
import os
import signal
import time

try:
    os.kill(os.getpid(), signal.SIGSTOP)
except OSError as error:
    print(error)
time.sleep(3600)
