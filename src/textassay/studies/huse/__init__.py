"""HUSE: ratings by people and probabilities of the model."""
