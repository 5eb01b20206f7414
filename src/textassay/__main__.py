"""`python -m textassay` is the command line."""

from textassay.cli.main import entry

entry()
