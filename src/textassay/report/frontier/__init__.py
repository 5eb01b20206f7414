"""Reports of frontier studies."""
