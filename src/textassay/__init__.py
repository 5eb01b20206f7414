"""textassay: is generated text distributed like the real thing?"""

from textassay.version import __version__

# Known to type checkers under this name, without the time that importing `typing` takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from textassay import metrics
    from textassay.corpus.files.reading import reading_limit
    from textassay.corpus.item_set import Item, ItemSet, read_items
    from textassay.corpus.ratings.files import read_ratings
    from textassay.corpus.ratings.rated_items import RatedItem, RatedItems
    from textassay.corpus.readers import read_sample, read_systems
    from textassay.corpus.sample import Sample
    from textassay.errors import InputError
    from textassay.inference.result import Interval, Result
    from textassay.models.choose import get_model, save_model, train_model
    from textassay.studies.agreement.result import Agreement
    from textassay.studies.agreement.study import agree
    from textassay.studies.answers.result import Answers
    from textassay.studies.answers.study import answers
    from textassay.studies.compare.result import Comparison
    from textassay.studies.compare.study import compare
    from textassay.studies.conditional.result import Conditional
    from textassay.studies.conditional.study import conditional
    from textassay.studies.frontier.own_functions import own_pair
    from textassay.studies.frontier.result import Frontier
    from textassay.studies.frontier.study import frontier
    from textassay.studies.gate.result import Gate
    from textassay.studies.gate.rules import GateRules
    from textassay.studies.history.result import History
    from textassay.studies.history.study import history
    from textassay.studies.huse.plane import HusePlane, huse_plane
    from textassay.studies.huse.result import HuseResult
    from textassay.studies.huse.study import huse
    from textassay.studies.plan.result import SizePlan
    from textassay.studies.plan.study import plan
    from textassay.studies.saved import read_results
    from textassay.studies.stress.result import Stress
    from textassay.studies.stress.study import stress
    from textassay.studies.sweep.result import Sweep
    from textassay.studies.sweep.study import sweep

__all__ = [
    "Agreement",
    "Answers",
    "Comparison",
    "Conditional",
    "Frontier",
    "Gate",
    "GateRules",
    "History",
    "HusePlane",
    "HuseResult",
    "InputError",
    "Interval",
    "Item",
    "ItemSet",
    "RatedItem",
    "RatedItems",
    "Result",
    "Sample",
    "SizePlan",
    "Stress",
    "Sweep",
    "__version__",
    "agree",
    "answers",
    "compare",
    "conditional",
    "frontier",
    "get_model",
    "history",
    "huse",
    "huse_plane",
    "metrics",
    "own_pair",
    "plan",
    "read_items",
    "read_ratings",
    "read_results",
    "read_sample",
    "read_systems",
    "reading_limit",
    "save_model",
    "stress",
    "sweep",
    "train_model",
]

# Imported on first use, so that the command line starts at once.
_HOMES = {
    "Agreement": "textassay.studies.agreement.result",
    "Answers": "textassay.studies.answers.result",
    "Comparison": "textassay.studies.compare.result",
    "Conditional": "textassay.studies.conditional.result",
    "Frontier": "textassay.studies.frontier.result",
    "Gate": "textassay.studies.gate.result",
    "GateRules": "textassay.studies.gate.rules",
    "InputError": "textassay.errors",
    "Interval": "textassay.inference.result",
    "Item": "textassay.corpus.item_set",
    "ItemSet": "textassay.corpus.item_set",
    "History": "textassay.studies.history.result",
    "HusePlane": "textassay.studies.huse.plane",
    "HuseResult": "textassay.studies.huse.result",
    "RatedItem": "textassay.corpus.ratings.rated_items",
    "RatedItems": "textassay.corpus.ratings.rated_items",
    "Result": "textassay.inference.result",
    "Sample": "textassay.corpus.sample",
    "SizePlan": "textassay.studies.plan.result",
    "Stress": "textassay.studies.stress.result",
    "Sweep": "textassay.studies.sweep.result",
    "agree": "textassay.studies.agreement.study",
    "answers": "textassay.studies.answers.study",
    "compare": "textassay.studies.compare.study",
    "conditional": "textassay.studies.conditional.study",
    "frontier": "textassay.studies.frontier.study",
    "get_model": "textassay.models.choose",
    "history": "textassay.studies.history.study",
    "huse": "textassay.studies.huse.study",
    "huse_plane": "textassay.studies.huse.plane",
    "metrics": "textassay.metrics",
    "own_pair": "textassay.studies.frontier.own_functions",
    "plan": "textassay.studies.plan.study",
    "read_items": "textassay.corpus.item_set",
    "read_ratings": "textassay.corpus.ratings.files",
    "read_results": "textassay.studies.saved",
    "read_sample": "textassay.corpus.readers",
    "read_systems": "textassay.corpus.readers",
    "reading_limit": "textassay.corpus.files.reading",
    "save_model": "textassay.models.choose",
    "stress": "textassay.studies.stress.study",
    "sweep": "textassay.studies.sweep.study",
    "train_model": "textassay.models.choose",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'textassay' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name])
    return home if name == "metrics" else getattr(home, name)


def __dir__() -> list[str]:
    return __all__
