# attack: 27
# tries: close the pipes to the grader
# kind: judge
# always: an answer that does not come is no pass
# outcome: runtime_error
import os

os.closerange(0, 64)
