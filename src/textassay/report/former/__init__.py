"""Reports: terminal, Markdown, CSV and HTML."""
