# attack: 44
# tries: write wherever this machine has files
# kind: reach
# alone: namespaces, landlock
import os
import sys

import numpy

for folder in (FOLDER, "/", "/etc", os.path.dirname(numpy.__file__), os.path.dirname(os.__file__)):
    path = f"{folder}/written-{TOKEN}"
    try:
        os.mkdir(path)
        os.rmdir(path)
        print("BREACH", path)
    except OSError as error:
        print(error)
