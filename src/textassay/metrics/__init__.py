"""One file a metric: a pure function of views and its declaration."""
