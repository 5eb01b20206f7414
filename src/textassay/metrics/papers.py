"""The sources of the metrics: full citations by the keys that declarations name (no metric is declared here)."""

import tomllib
from functools import cache
from importlib import resources


def citation(key: str) -> str:
    """The full citation of a source; a key that `papers.toml` does not list stands for itself.

    >>> citation("shannon1948")
    'Claude E. Shannon. A mathematical theory of communication. Bell System Technical Journal, 1948.'
    """
    return citations().get(key, key)


@cache
def citations() -> dict[str, str]:
    """Every listed citation by its key."""
    listed = resources.files("textassay.metrics").joinpath("papers.toml")
    return tomllib.loads(listed.read_text(encoding="utf-8"))
