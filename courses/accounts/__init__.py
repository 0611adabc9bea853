"""The account's own page: the name it goes by, and its end."""
