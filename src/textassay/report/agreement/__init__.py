"""Reports of agreement studies."""
