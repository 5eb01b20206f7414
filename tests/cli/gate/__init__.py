"""Tests of gates on the command line."""
