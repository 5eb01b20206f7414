"""Sweeps: which decoding setting, or which checkpoint, of a model fits real text best?"""
