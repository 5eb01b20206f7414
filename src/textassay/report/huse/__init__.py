"""Reports of `huse`."""
