"""Digests: mergeable statistics of a corpus, by block of texts."""
