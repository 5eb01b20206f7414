"""The version, alone in a file so that `textassay --version` imports nothing else."""

__version__ = "0.6.0.dev0"
