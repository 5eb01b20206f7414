"""Results out: terminal table, JSON, Markdown, CSV, HTML."""
