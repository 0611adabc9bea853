"""Which known mistakes explain a wrong result."""
