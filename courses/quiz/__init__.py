"""Questions: how each kind reads an answer, judges it and shows it again."""
