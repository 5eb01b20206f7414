"""`textassay prepare`, `train`, `sample` and `score`: generators and their log-probabilities."""
