"""Starts the zygote: python -I -S <this folder> <descriptor of the control socket> <packages>."""

from __future__ import annotations

import importlib
import os
import socket
import sys

if __name__ == "__main__":
    # Only the parent of this folder is needed, and only while the zygote's modules are loaded:
    # learners' code finds nothing of the project on its path.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(here)
    sys.path.append(sys.argv[2])
    zygote = importlib.import_module("inside.zygote")

    del sys.path[0]
    zygote.main(socket.socket(fileno=int(sys.argv[1])))
