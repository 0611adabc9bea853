# attack: 46
# tries: send an array whose shape and size do not fit
# kind: judge
# always: the judge's strict parser
# outcome: flagged
import os
import struct

BEGIN, ARRAY, CALL = 1, 2, 6


def record(kind, position=0, payload=b""):
    return struct.pack("<BHHQ", kind, 0, position, len(payload)) + payload


# As the first public case goes: the class is made, forward is called, y is sent.
body = struct.pack("<BB2Q", 10, 2, 1 << 62, 4) + bytes(16)
os.write(4, record(BEGIN) + record(CALL) + record(CALL, 1) + record(ARRAY, 1, body))
os._exit(0)
