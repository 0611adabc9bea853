"""The presentation layer: what pages and the REST API show of a submission."""
