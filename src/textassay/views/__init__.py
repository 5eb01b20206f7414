"""What a metric looks at: views are built from a part of a sample and merged."""
