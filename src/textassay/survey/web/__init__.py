"""The web page of a study."""
