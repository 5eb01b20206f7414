"""Tables and figures of the paper on quality-diversity pairs (Li et al. 2020)."""
