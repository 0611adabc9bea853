"""Runs learners' code in isolated processes, and reads what comes back.

`client` is the judge's side, `isolation` decides which walls, `bubblewrap` and `syscalls` describe
them. Everything in `inside` is loaded by the zygote, a separate Python process that never sees
the judge's expected values, and that imports nothing else of this project. Each layer of
isolation is a module of `inside.layers`.
"""
