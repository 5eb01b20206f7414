"""Tables and figures of the papers, one file per paper."""
