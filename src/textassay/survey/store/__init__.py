"""The store of a study: one SQLite file."""
