"""Tests of adapters to other tools."""
