# outcome: memory_limit
# limits: memory_megabytes=256
kept = [0]
while True:
    kept = kept + kept
