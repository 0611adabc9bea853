# attack: 38
# tries: ignore every signal that can be ignored, and go on
# kind: endless
# always: the supervisor's clock
import signal

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        continue
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
