"""Where reductions run."""
