"""Metrics of trained models: classifiers that separate generated from real text."""
