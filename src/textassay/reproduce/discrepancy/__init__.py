"""Tables and figures of the paper on Distributional Discrepancy (Cai et al. 2020)."""
