"""Saved results: the outcome in a JSON file of any study."""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from textassay.corpus.files.writing import AnyPath
from textassay.corpus.printable import shortened
from textassay.corpus.values import read_json
from textassay.errors import InputError
from textassay.studies.outcome import Outcome
from textassay.version import __version__

# The keys that the JSON form of each study has besides `details`, and its class. The first that fits is taken.
_STUDIES = (
    ({"reference", "candidates"}, "compare.result", "Comparison"),
    ({"prompts", "systems"}, "answers.result", "Answers"),
    ({"items", "systems"}, "conditional.result", "Conditional"),
    ({"models", "boundary"}, "huse.plane", "HusePlane"),
    ({"settings", "best"}, "sweep.result", "Sweep"),
    ({"gold", "metrics"}, "agreement.result", "Agreement"),
    ({"damages", "strengths"}, "stress.result", "Stress"),
    ({"margin", "rounds"}, "plan.result", "SizePlan"),
    ({"runs", "changes"}, "history.result", "History"),
    ({"sources"}, "frontier.result", "Frontier"),
    ({"results"}, "huse.result", "HuseResult"),
)
WANTED = "wanted a file that --json of a study of textassay wrote"


def read_results(path: AnyPath) -> Outcome:
    """Read the outcome of a study from its JSON file; the study is known by the structure of the file.

    Parameters
    ----------
    path : str or path-like
        The file that `--json` or `to_json` wrote.

    Returns
    -------
    Outcome
        A `Comparison`, `Conditional`, `Answers`, `HuseResult`, `HusePlane`, `Sweep`, `Agreement`, `Stress`, `SizePlan`,
        `History` or `Frontier`.
    """
    return outcome_of(read_json(path), shortened(os.fsdecode(path)))


def outcome_of(plain: Any, where: str) -> Outcome:
    """The outcome with this JSON form; an error begins with `where`."""
    if not isinstance(plain, Mapping) or "textassay" not in plain or "details" not in plain:
        raise InputError(f"{where}: not results of textassay; {WANTED}")
    home = next((home for keys, *home in _STUDIES if keys <= plain.keys()), None)
    if home is None:
        raise InputError(f"{where}: results of no study that textassay {__version__} has{_written_by(plain)}; {WANTED}")
    study: type[Outcome] = getattr(import_module(f"textassay.studies.{home[0]}"), home[1])
    try:
        return study.from_dict(plain)
    except InputError as error:
        raise InputError(f"{where}: {error}{_written_by(plain)}") from None


def _written_by(plain: Mapping[str, Any]) -> str:
    """Which version wrote the file, if it is another one."""
    version = shortened(str(plain["textassay"]), 20)
    return "" if version == __version__ else f" (the file is of textassay {version}; this is {__version__})"
