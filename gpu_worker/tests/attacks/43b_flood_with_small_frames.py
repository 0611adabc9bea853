# attack: 43b
# tries: send a great many empty frames, each of which costs the judge memory
# kind: forged
# always: the judge's cap
import os
import struct

frames = struct.pack("<BHHQ", 1, 0, 0, 0) * 60_000
view = memoryview(frames)
while view:
    view = view[os.write(RESULT, view) :]
