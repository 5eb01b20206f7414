"""Neural language models: networks, training, decoding on logits."""
