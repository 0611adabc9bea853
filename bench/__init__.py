"""Measurements of the whole platform: `python -m bench` writes bench/results/<name>.json."""
