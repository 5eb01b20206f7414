"""Inference on ratings and raters."""
