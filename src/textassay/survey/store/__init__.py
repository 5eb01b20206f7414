"""The store of a study, in one SQLite file."""
