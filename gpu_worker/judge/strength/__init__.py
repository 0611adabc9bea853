"""How well an exercise's cases and known mistakes tell wrong from right."""
