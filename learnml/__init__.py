"""The site: settings, addresses, health and the supervisor; nothing of what it teaches."""

__version__ = "0.1.0"
