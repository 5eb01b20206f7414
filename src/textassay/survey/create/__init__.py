"""New studies from files of texts."""
