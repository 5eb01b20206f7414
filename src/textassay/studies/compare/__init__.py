"""Compare candidates with a reference."""
