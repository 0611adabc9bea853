# attack: 60
# tries: change the job's bytes, which the judge might read again
# kind: reach
# always: the job's seals
import fcntl
import mmap
import os

for attempt in (
    lambda: os.pwrite(JOB, b"x", 0),
    lambda: os.ftruncate(JOB, 0),
    lambda: mmap.mmap(JOB, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
):
    try:
        attempt()
        print("BREACH")
    except (OSError, ValueError) as error:
        print(error)
