"""The layers of isolation, one module each, in the order in which the runner puts them on."""
