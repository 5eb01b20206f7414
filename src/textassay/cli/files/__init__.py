"""Commands on files: what they are, records, digests, and the cache of vectors."""
