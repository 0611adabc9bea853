"""The REST API under `/api/v1/`: for graders, teaching assistants and their tools."""
