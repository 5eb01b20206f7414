"""Files: how they are found and read, and how they are written whole."""
