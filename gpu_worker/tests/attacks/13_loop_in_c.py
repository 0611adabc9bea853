# attack: 13
# tries: compute without end in C, with the interpreter's lock held
# kind: endless
# always: the supervisor's clock
import itertools

sum(itertools.repeat(1))
