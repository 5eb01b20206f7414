"""Uncertainty: intervals, permutation tests, and corrections for many tests."""
