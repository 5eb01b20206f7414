"""Text comes in: samples, items, ratings, readers and tokenizers."""
