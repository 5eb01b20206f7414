"""Measure candidates and the baseline of a comparison."""
