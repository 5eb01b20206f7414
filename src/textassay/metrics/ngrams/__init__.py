"""Metrics on n-grams."""
