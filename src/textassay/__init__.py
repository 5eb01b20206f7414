"""textassay: is generated text distributed like the real thing?"""

from importlib import import_module
from typing import TYPE_CHECKING

from textassay.version import __version__

if TYPE_CHECKING:
    from textassay.corpus.errors import InputError
    from textassay.corpus.readers import read_sample
    from textassay.corpus.sample import Sample
    from textassay.inference.result import Interval, Result
    from textassay.studies.compare import compare
    from textassay.studies.comparison import Comparison

__all__ = ["Comparison", "InputError", "Interval", "Result", "Sample", "__version__", "compare", "read_sample"]

# Imported on first use, so that the command line starts at once.
_HOMES = {
    "Comparison": "textassay.studies.comparison",
    "InputError": "textassay.corpus.errors",
    "Interval": "textassay.inference.result",
    "Result": "textassay.inference.result",
    "Sample": "textassay.corpus.sample",
    "compare": "textassay.studies.compare",
    "read_sample": "textassay.corpus.readers",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'textassay' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
