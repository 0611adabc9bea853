# attack: 43
# tries: send results without end
# kind: flood
# always: the judge's cap
import os
import struct

while True:
    os.write(RESULT, struct.pack("<BHHQ", 2, 0, 0, 1 << 20) + bytes(1 << 20))
