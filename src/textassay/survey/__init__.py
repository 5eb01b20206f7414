"""The rating study: its file, its web page and its exchange with Mechanical Turk."""
