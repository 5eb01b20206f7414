"""Metrics on rated texts."""
