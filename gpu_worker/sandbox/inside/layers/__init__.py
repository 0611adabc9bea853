"""The layers of isolation, one module each. `runner` and `supervisor` apply them, in order."""
