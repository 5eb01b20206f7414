"""Metrics on the candidates and references of one item."""
