"""The kinds of figures, one module each. Its twin for the browser is in `static/js/figures/`."""
