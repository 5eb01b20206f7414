"""History: metrics over runs, checkpoints or dates, and the first change that is significant over the whole series."""
