"""The layers of isolation, one module each. `runner` and `supervisor` put them on, in order."""
