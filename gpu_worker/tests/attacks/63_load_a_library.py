# attack: 63
# tries: load a native library that it wrote itself
# kind: reach
# alone: namespaces, landlock
# residual: machine code can still be made in memory; it meets the same walls
import mmap
import os

path = f"{os.getcwd() if os.access('.', os.W_OK) else FOLDER}/library-{os.getpid()}"
try:
    with open(path, "w+b") as file:
        file.write(bytes(4096))
        file.flush()
        mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
    print("BREACH")
except OSError as error:
    print(error)
try:
    os.unlink(path)
except OSError as error:
    print(error)
