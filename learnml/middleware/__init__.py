"""The site's own middleware; `MIDDLEWARE` in the settings says in which order."""
