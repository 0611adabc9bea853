# attack: 18b
# tries: write a broken record of the grader's, and go on without end
# kind: judge
# always: the judge's strict parser
# outcome: flagged
import os

os.write(4, b"no record of any kind")
while True:
    pass
