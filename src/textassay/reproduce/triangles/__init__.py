"""Tables and figures of the triangle-rank paper (Chan et al. 2022)."""
