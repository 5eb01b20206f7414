"""Encoders: what turns texts into vectors, each in its own file behind one small protocol."""
