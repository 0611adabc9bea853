# attack: 56
# tries: make a file that runs as its owner
# kind: reach
# alone: landlock, seccomp
import os

path = f"{os.getcwd() if os.access('.', os.W_OK) else FOLDER}/program-{os.getpid()}"
try:
    with open(path, "w") as file:
        file.write("x")
    os.chmod(path, 0o4777)
    print("BREACH")
except OSError as error:
    print(error)
try:
    os.unlink(path)
except OSError as error:
    print(error)
