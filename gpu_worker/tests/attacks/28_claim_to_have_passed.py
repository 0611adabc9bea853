# attack: 28
# tries: print that it passed, and end with success
# kind: judge
# always: output is never parsed
# outcome: runtime_error
import os

print("accepted", flush=True)
os._exit(0)
