"""`manage.py up`: one command that starts queue, web, workers and scheduler, and stops them.

No module here imports Django: the supervisor must be up at once, and the children, which do need
Django, load it side by side.
"""
