# attack: 12
# tries: compute without end
# kind: endless
# always: the supervisor's clock
while True:
    pass
