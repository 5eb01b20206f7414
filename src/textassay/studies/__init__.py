"""Studies: whole questions, from input to outcome."""
