# attack: 23
# tries: make more files than a file system likes
# kind: reach
# alone: namespaces, landlock
import os

folder = os.getcwd() if os.access(".", os.W_OK) else FOLDER
made = 0
try:
    for number in range(1100):
        os.mkdir(f"{folder}/inode-{os.getpid()}-{number}")
        made += 1
except OSError as error:
    print(error)
for number in range(made):
    os.rmdir(f"{folder}/inode-{os.getpid()}-{number}")
if made == 1100:
    print("BREACH", made)
