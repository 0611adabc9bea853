"""What learners read: courses, chapters, questions and progress; it knows nothing of grading.

`models` holds the tables, `content` takes files in and out, `publishing` makes of them what
`pages` shows, and `admin` is where authors write. `services` changes what learners have done.
"""
