"""Stress: which metric notices which damage to real text, and at which sample size?"""
