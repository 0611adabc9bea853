"""Code that runs in the zygote, in the supervisor and in the runner, next to learners' code.

It is importable both as `gpu_worker.sandbox.inside`, by the judge, and as `inside`, by the zygote
alone. So it imports only the standard library, NumPy and itself, relatively.
"""
