"""Standard streams: terminals, pipes, closed and full ones."""
