"""Reports of `conditional`."""
