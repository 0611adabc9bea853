# attack: 41
# tries: make the compiler use all the memory
# kind: judge
# always: the file is compiled in the runner only
# outcome: runtime_error
source = "x = " + "-" * 30_000 + "1"
for _ in range(200):
    try:
        eval(compile(source[4:], "bomb", "eval"))
    except (RecursionError, MemoryError, SyntaxError):
        break
raise SystemExit
