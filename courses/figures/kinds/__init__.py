"""The kinds of figures, one module each. Each has a twin in `static/js/figures/kinds/`."""
