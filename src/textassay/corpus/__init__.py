"""Text comes in: samples, items, readers and tokenizers."""
