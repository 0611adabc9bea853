# attack: 09b
# tries: take two gigabytes of shared anonymous memory
# kind: reach
# always: limits (address space)
import mmap

try:
    print("BREACH", len(mmap.mmap(-1, 2 << 30)))
except OSError as error:
    print(error)
