"""The overall test: its bank of statistics, their combination, and sums over pairs of texts."""
