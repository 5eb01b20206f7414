"""Tables and figures of the papers, one file or folder per paper."""
