"""textassay: is generated text distributed like the real thing?"""

from textassay.version import __version__

# Known to type checkers under this name, without the time that importing `typing` takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from textassay.corpus.errors import InputError
    from textassay.corpus.items import Item, ItemSet, read_items
    from textassay.corpus.rated import RatedItem, RatedItems
    from textassay.corpus.rating_files import read_ratings
    from textassay.corpus.readers import read_sample
    from textassay.corpus.sample import Sample
    from textassay.inference.result import Interval, Result
    from textassay.studies.compare import compare
    from textassay.studies.comparison import Comparison
    from textassay.studies.conditional import conditional
    from textassay.studies.conditioned import Conditional
    from textassay.studies.huse import huse
    from textassay.studies.judged import Judged

__all__ = [
    "Comparison",
    "Conditional",
    "InputError",
    "Interval",
    "Item",
    "ItemSet",
    "Judged",
    "RatedItem",
    "RatedItems",
    "Result",
    "Sample",
    "__version__",
    "compare",
    "conditional",
    "huse",
    "read_items",
    "read_ratings",
    "read_sample",
]

# Imported on first use, so that the command line starts at once.
_HOMES = {
    "Comparison": "textassay.studies.comparison",
    "Conditional": "textassay.studies.conditioned",
    "InputError": "textassay.corpus.errors",
    "Interval": "textassay.inference.result",
    "Item": "textassay.corpus.items",
    "ItemSet": "textassay.corpus.items",
    "Judged": "textassay.studies.judged",
    "RatedItem": "textassay.corpus.rated",
    "RatedItems": "textassay.corpus.rated",
    "Result": "textassay.inference.result",
    "Sample": "textassay.corpus.sample",
    "compare": "textassay.studies.compare",
    "conditional": "textassay.studies.conditional",
    "huse": "textassay.studies.huse",
    "read_items": "textassay.corpus.items",
    "read_ratings": "textassay.corpus.rating_files",
    "read_sample": "textassay.corpus.readers",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'textassay' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
