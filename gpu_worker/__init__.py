"""The grading engine, free of Django: judge, sandbox, exercises, and the process behind the queue.

Most of it runs on a processor, kernels of the CuPy track included; what needs a GPU is in `gpu`.
"""
