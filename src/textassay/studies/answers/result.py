"""The outcome of a study of answers, and its JSON form."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from textassay.corpus.item_set import ItemSet
from textassay.inference.result import Result, one_nan
from textassay.studies.codec import from_fields, to_fields
from textassay.studies.contests import Contest
from textassay.studies.finding import Verdict
from textassay.studies.outcome import Outcome, ResultColumn, Settings, known, plain_row
from textassay.version import __version__

# How alike the answers to one prompt are, the worst first, and what people read for it: all are one text word for word,
# near duplicates of each other, of one meaning, or none of these.
KIND_WORDS = {
    "collapsed": "one answer",
    "one wording": "one wording",
    "one meaning": "one meaning",
    "varied": "several meanings",
}
KINDS = tuple(KIND_WORDS)
# Without vectors, only wordings are told apart.
_WORDING_WORDS = {kind: words for kind, words in KIND_WORDS.items() if kind != "one meaning"} | {
    "varied": "several wordings"
}


@dataclass(frozen=True)
class PromptAnswers:
    """One system's answers to one prompt: how many were measured, the values by label, and how alike they are.

    `classes` has the meaning of each answer, numbered from 0, or its wording where no vectors were measured.
    """

    id: str
    n: int
    values: tuple[float, ...]
    kind: str
    classes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(one_nan, self.values)))


@dataclass(frozen=True)
class FileClasses:
    """The classes of answers that the file itself has, beside ours, over the prompts that have them.

    `file` and `ours` are the mean numbers of classes. `rand` is the mean adjusted Rand index between the two, `alone`
    that of one class for all answers.
    """

    n: int
    file: float
    ours: float
    rand: float
    alone: float


@dataclass(frozen=True)
class SystemAnswers(ResultColumn):
    """One system: each metric over all prompts, every prompt, and a verdict.

    The estimate of a result is the mean over the prompts with a value, `n` their number. Its `parts` have `answers`,
    the mean number of answers per prompt.
    """

    name: str
    results: tuple[Result, ...]
    prompts: tuple[PromptAnswers, ...]
    verdict: Verdict
    file_classes: FileClasses | None = None

    def count(self, kind: str) -> int:
        """Prompts with answers that are alike in this way."""
        return sum(prompt.kind == kind for prompt in self.prompts)


CSV_FIELDS = (
    "system", "prompt", "n", "metric", "label", "options", "estimate", "low", "high", "level", "kind", "undefined",
    "signature",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Answers(Outcome):
    """The diversity of several answers to one prompt, of one or several systems, over many prompts.

    `prompts` are the items with all answers. `labels` names the metrics, one per result of a column; the first one
    ranks the systems. `contests` compares every two systems on the prompts that both answered.
    """

    kind: ClassVar[str] = "answers"
    csv_fields: ClassVar[tuple[str, ...]] = CSV_FIELDS
    __hash__ = Outcome.__hash__

    prompts: ItemSet
    systems: tuple[SystemAnswers, ...]
    labels: tuple[str, ...]
    contests: tuple[Contest, ...]
    level: float
    notes: tuple[str, ...]
    settings: Settings = field(default_factory=dict)

    @property
    def columns(self) -> tuple[SystemAnswers, ...]:
        """The systems."""
        return self.systems

    @property
    def kind_words(self) -> Mapping[str, str]:
        """The kinds of prompts that were told apart, in words: meanings only where vectors were measured."""
        return KIND_WORDS if self.settings.get("encoder") is not None else _WORDING_WORDS

    def check_fields(self) -> None:
        """Raise an error unless every prompt of a system is known and has one value per metric."""
        super().check_fields()
        known_prompts = {item.id: item for item in self.prompts.items}
        for system in self.systems:
            for prompt in system.prompts:
                written = known_prompts[prompt.id].candidates[system.name]
                if len(prompt.values) != len(self.labels) or prompt.kind not in self.kind_words:
                    raise ValueError("a prompt without one value per metric, or of an unknown kind")
                if not len(prompt.classes) == prompt.n <= len(written):
                    raise ValueError("a prompt with another number of classes than of answers")

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per system and metric over all prompts, then one per prompt."""
        for system in self.systems:
            for label, result in zip(self.labels, system.results, strict=True):
                yield _csv_row(result, system=system.name, label=label)
            for prompt in system.prompts:
                for label, result, value in zip(self.labels, system.results, prompt.values, strict=True):
                    own = {"prompt": prompt.id, "n": prompt.n, "estimate": known(value), "kind": prompt.kind}
                    none = dict.fromkeys(("low", "high", "level", "undefined"))
                    yield _csv_row(result, system=system.name, label=label) | none | own

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, and under `details` what goes beyond them."""
        plain = to_fields(self)
        shown = {name: plain.pop(name) for name in ("prompts", "systems")}
        return {"textassay": __version__, **shown, "details": plain}

    @classmethod
    def _from_dict(cls, plain: Mapping[str, Any]) -> Self:
        return from_fields(cls, {**plain["details"], "prompts": plain["prompts"], "systems": plain["systems"]})


def _csv_row(result: Result, *, system: str, label: str) -> dict[str, Any]:
    plain = {name: value for name, value in plain_row(result).items() if name in CSV_FIELDS}
    return plain | {"system": system, "label": label, "prompt": "", "kind": ""}


def usual_n(system: SystemAnswers) -> int | None:
    """The number of answers per prompt; None where it differs."""
    sizes = {prompt.n for prompt in system.prompts}
    return sizes.pop() if len(sizes) == 1 else None


def mean_n(system: SystemAnswers) -> float:
    """The mean number of answers per prompt; NaN without a prompt."""
    sizes = [prompt.n for prompt in system.prompts]
    return sum(sizes) / len(sizes) if sizes else math.nan
