"""Gates on the command line: their options, and what they write for continuous integration."""
