"""Metrics on sentence vectors."""
