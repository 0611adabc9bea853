# attack: 16
# tries: leave a file for the next submission to find
# kind: reach
# alone: namespaces, landlock
import os

for folder in (FOLDER, "/tmp", "/var/tmp", "/dev/shm"):
    path = f"{folder}/{os.getpid()}-{TOKEN}"
    try:
        with open(path, "w") as file:
            file.write("note")
        os.unlink(path)
        print("BREACH", path)
    except OSError as error:
        print(error)
