"""The files that other people's tools write, each family in its own file."""
