"""Rated texts and their readers."""
