"""Inference over items."""
