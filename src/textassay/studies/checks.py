"""Checks that several studies make before any time is spent."""

from textassay.corpus.errors import InputError


def check_plan(level: float, n_resamples: int, seed: int) -> None:
    """Refuse settings that no interval or test can be made from."""
    if not 0.5 <= level < 1:
        raise InputError(f"--level is {level}; wanted at least 0.5 and below 1, such as 0.95")
    if n_resamples < 0 or 0 < n_resamples < 19:
        raise InputError(f"--resamples is {n_resamples}; wanted 0 (estimates only) or at least 19")
    if seed < 0:
        raise InputError(f"--seed is {seed}; wanted 0 or more")
