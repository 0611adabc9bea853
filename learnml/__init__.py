"""The site: settings, URLs, accounts, health and the supervisor; no rule of learning or grading."""

__version__ = "0.1.0"
