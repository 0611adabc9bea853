# attack: 39
# tries: read what stands in the worker's standard input
# kind: reach
# always: descriptors
import sys

if text := sys.stdin.read():
    print("BREACH", text)
