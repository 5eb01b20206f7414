"""Generators and scorers."""
