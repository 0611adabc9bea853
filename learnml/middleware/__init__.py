"""The site's own middleware; `MIDDLEWARE` in the settings defines the order."""
