"""Compare candidates with references item by item."""
