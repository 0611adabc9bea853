# outcome: memory_limit
# catalogue: 39
# limits: memory_megabytes=256
kept = [0]
while True:
    kept = kept + kept
