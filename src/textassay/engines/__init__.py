"""Engines: where independent pieces of work run."""
