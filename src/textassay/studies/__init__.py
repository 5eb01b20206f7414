"""Whole questions answered: compare candidates with a reference."""
