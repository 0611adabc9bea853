# attack: 45
# tries: use a descriptor that was left open
# kind: reach
# always: descriptors
import os

for number in range(5, 1024):
    try:
        print("BREACH", number, os.fstat(number).st_size)
    except OSError:
        continue
