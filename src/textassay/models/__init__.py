"""Generators and scorers: small models that write texts and say how probable a text is."""
