"""The texts of the rating page: one table per language."""
