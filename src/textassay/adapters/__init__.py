"""Adapters: textassay inside of other tools. Each module imports its tool only when it is used."""
