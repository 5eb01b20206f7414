"""Engines: where work runs."""
