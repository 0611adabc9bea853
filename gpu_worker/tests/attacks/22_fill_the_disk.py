# attack: 22
# tries: fill the disk with many files, each below the limit
# kind: reach
# alone: namespaces, landlock
import os

written, data = 0, bytes(1 << 20)
folder = os.getcwd() if os.access(".", os.W_OK) else FOLDER
names = []
try:
    for number in range(24):
        names.append(f"{folder}/fill-{os.getpid()}-{number}")
        with open(names[-1], "wb") as file:
            written += file.write(data)
except OSError as error:
    print(error)
for name in names:
    try:
        os.unlink(name)
    except OSError:
        pass
if written > 20 << 20:
    print("BREACH", written)
