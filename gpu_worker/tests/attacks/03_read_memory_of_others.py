# attack: 03
# tries: read another process's memory through /proc
# kind: reach
# alone: namespaces, landlock
import os

try:
    with open(f"/proc/{VICTIM}/maps") as maps, open(f"/proc/{VICTIM}/mem", "rb", 0) as memory:
        memory.seek(int(maps.readline().split("-")[0], 16))
        print("BREACH", memory.read(4))
except OSError as error:
    print(error)
