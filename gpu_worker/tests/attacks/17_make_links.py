# attack: 17
# tries: make a link to a file outside in a folder that others use
# kind: reach
# alone: namespaces, landlock, seccomp
import os

for make in (os.symlink, os.link):
    path = f"{FOLDER}/link-{make.__name__}-{os.getpid()}"
    try:
        make(SECRET, path)
        os.unlink(path)
        print("BREACH", path)
    except OSError as error:
        print(error)
