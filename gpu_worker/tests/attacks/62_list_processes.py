# attack: 62
# tries: list the processes and mounts of this machine
# kind: reach
# alone: namespaces, landlock
import os

for path in ("/proc", "/sys"):
    try:
        if found := os.listdir(path):
            print("BREACH", path, len(found))
    except OSError as error:
        print(error)
try:
    with open("/proc/self/mountinfo") as file:
        print("BREACH", file.readline())
except OSError as error:
    print(error)
