"""Metrics: one folder per family, each with its views and its metrics."""
