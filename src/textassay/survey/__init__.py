"""The rating page and its store."""
