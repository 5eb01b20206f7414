"""Pairwise text distances, one file each; `textassay.views.distances` knows them by name."""
