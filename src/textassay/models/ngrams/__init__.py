"""The n-gram model: smoothing, exact sampling and scoring at any decoding setting, and ARPA files."""
