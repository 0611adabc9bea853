"""What a run sent, read strictly and compared with what it should have given."""
