"""Ratings come in: rated texts, their files, and what their columns mean."""
