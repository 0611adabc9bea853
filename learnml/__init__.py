"""The site: settings, URLs, health and the supervisor; nothing of the domain."""

__version__ = "0.1.0"
