"""The sandbox for runs with a device: what they are granted beyond `gpu_worker.sandbox`.

The part that runs inside, beside learners' code, is `gpu_worker.sandbox.inside.device`.
"""
