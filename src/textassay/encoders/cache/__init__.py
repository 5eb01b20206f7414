"""The cache of vectors on disk."""
