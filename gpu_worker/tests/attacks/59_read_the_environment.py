# attack: 59
# tries: read what the worker's environment says of queues and keys
# kind: reach
# always: environment
import os

if "WORKER_SECRET" in os.environ:
    print("BREACH", os.environ["WORKER_SECRET"])
