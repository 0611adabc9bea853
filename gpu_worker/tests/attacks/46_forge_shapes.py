# attack: 46
# tries: send an array whose shape and size do not fit
# kind: judge
# always: the judge's strict parser
# outcome: flagged
import os
import struct

body = struct.pack("<BB2Q", 10, 2, 1 << 62, 4) + bytes(16)
os.write(4, struct.pack("<BHHQ", 1, 0, 0, 0) + struct.pack("<BHHQ", 2, 0, 1, len(body)) + body)
os._exit(0)
