"""What learners submit, from the form to the stored verdict; the judging itself is `gpu_worker`'s.

`services` holds every change of state, `access` who may see what, `presentation` what is shown of
a submission. `web`, `api` and `admin` are three ways to the same services.
"""
