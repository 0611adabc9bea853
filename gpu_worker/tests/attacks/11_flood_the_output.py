# attack: 11
# tries: print without end
# kind: flood
# always: the judge's cap
while True:
    print("x" * 65_536)
