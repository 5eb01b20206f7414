"""Exchange of studies with Mechanical Turk."""
