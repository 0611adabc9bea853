# attack: 33
# tries: claim to have taken no time
# kind: endless
# always: the supervisor's clock
import time

sleep = time.sleep
for name in ("time", "monotonic", "perf_counter", "process_time"):
    setattr(time, name, lambda: 0.0)
sleep(3600)
