# attack: 57
# tries: read the reference solution, and the worker's packages, from the disk
# kind: reach
# alone: namespaces, landlock
import importlib
import sys

try:
    with open(f"{PROJECT}/gpu_worker/exercises/rmsnorm/reference_numpy.py") as file:
        print("BREACH", file.readline())
except OSError as error:
    print(error)
sys.meta_path[:] = [finder for finder in sys.meta_path if finder.__class__.__name__ != "ImportGuard"]
sys.path.insert(0, PACKAGES)
try:
    importlib.import_module("worker_package")
    print("BREACH")
except ImportError as error:
    print(error)
