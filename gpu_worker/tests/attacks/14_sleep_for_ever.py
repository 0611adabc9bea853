# attack: 14
# tries: sleep, which uses no processor time
# kind: endless
# always: the supervisor's clock
import time

time.sleep(3600)
