"""Measure how different the answers to one prompt are, without references."""
