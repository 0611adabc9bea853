"""The process that takes jobs off the queue, works on them and sends the results.

`gpu_worker.celery_app` is its entry point, which operators name when they start a worker.
"""
