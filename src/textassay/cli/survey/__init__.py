"""The commands of `textassay survey`."""
