"""Studies on Mechanical Turk."""
