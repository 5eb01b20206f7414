"""Distances between two texts."""
