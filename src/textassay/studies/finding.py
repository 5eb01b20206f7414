"""Findings and verdicts: what a study found, as data.

A verdict is a decision and a list of findings, the most important first. A finding has a kind and the numbers behind
it. `textassay.studies.sentences` has one sentence per kind and is the only place that makes words of them. Code that
wants to know what was found looks at decisions, kinds and numbers, and never at a sentence:

>>> repeated = Finding("collapsed", value=0.9, parts={"exact": 0.8, "unique_texts": 60}, n=(600,))
>>> verdict = Verdict.of("collapsed", repeated)
>>> verdict.decision, [finding.kind for finding in verdict.findings]
('collapsed', ['collapsed'])
>>> verdict.sentence
'collapsed: 90 % of texts repeat another one, 80 % word for word (60 different texts of 600)'

To add a kind of finding to a study, add its sentence to `SENTENCES` in `sentences.py`, beside those of the same study,
and create it in the study's `verdict.py` with the fields that the sentence reads. A number without a field of its own
goes to `parts`, by name. Words that come from elsewhere (a warning, the reason why a number is missing) are `text`.
A finding is stored as JSON beside its sentence, so a number that a document shows is best read from the finding.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from textassay.corpus.printable import shortened
from textassay.inference.result import one_nan
from textassay.studies.sentences import sentence_of

Ends = tuple[float, float]


@dataclass(frozen=True)
class Finding:
    """One thing that a study found. Fields that do not apply have no value: NaN, None or nothing in them.

    `kind` names its sentence. `metric` is the label of the metric that shows it. `value` with the `ends` of its
    interval is that of the candidate, `baseline` with `baseline_ends` that of real text, of people or of chance.
    `adjusted_p` is the p-value after all corrections, `floor` the smallest one that could have come out. `grade` is
    that of the effect. `n` are the numbers of texts or items behind it. `condition` says under which condition it
    holds ("equal lengths"). `names` are what it names, such as settings or tests. `parts` are further numbers by name.
    `text` is words from elsewhere. `among` are the findings that it sums up.
    """

    kind: str
    metric: str = ""
    value: float = math.nan
    ends: Ends | None = None
    baseline: float = math.nan
    baseline_ends: Ends | None = None
    adjusted_p: float = math.nan
    floor: float = math.nan
    grade: str = ""
    n: tuple[int, ...] = ()
    condition: str = ""
    names: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    text: str = ""
    among: tuple["Finding", ...] = ()

    def __post_init__(self) -> None:
        for name in ("value", "baseline", "adjusted_p", "floor"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))

    def __hash__(self) -> int:
        return hash((self.kind, self.metric, self.value, self.names, self.text))

    def part(self, name: str) -> float:
        """A further number by name; NaN if there is none."""
        return self.parts.get(name, math.nan)

    def to_dict(self) -> dict[str, Any]:
        """The fields that have a value, as plain values for JSON."""
        plain = {each.name: _plain(getattr(self, each.name)) for each in fields(self)}
        return {name: value for name, value in plain.items() if value not in (None, "", [], {})}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
        }
        for name in ("ends", "baseline_ends"):
            if name in values:
                low, high = values[name]
                values[name] = (-math.inf if low is None else low, math.inf if high is None else high)
        return cls(**values | {"among": tuple(map(cls.from_dict, plain.get("among", ())))})


def _plain(value: Any) -> Any:
    """A value for JSON; None where it is not a number."""
    if isinstance(value, Finding):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items() if _plain(each) is not None}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def stated(text: str) -> Finding:
    """A finding of which only the words are known, such as a reason in a file of 0.5.0."""
    return Finding("stated", text=text)


# Only estimates were asked for.
NO_TEST = Finding("no test")


@dataclass(frozen=True, repr=False)
class Verdict:
    """A decision and the findings that it follows from, the most important first.

    `decision` is same (tested, no difference found), differs, collapsed, copied (many texts are taken from the
    reference), untested (nothing was tested, or there are too few texts to find any but very large differences), or, of
    a pair of metrics, compatible or incompatible with distribution fitting.
    """

    decision: str
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(
        cls,
        decision: str,
        *findings: Finding | str,
        details: Iterable[Finding | str] = (),
        cautions: Iterable[Finding | str] = (),
    ) -> Self:
        """A verdict with its findings in order: what was found, how it shows, and what may be wrong with the test.

        A string is a finding of which only the words are known; among the cautions it is a warning.
        """
        warnings = (Finding("caution", text=each) if isinstance(each, str) else each for each in cautions)
        found = (stated(each) if isinstance(each, str) else each for each in (*findings, *details))
        return cls(decision, (*found, *warnings))

    def __repr__(self) -> str:
        return f"Verdict({shortened(f'{self.decision}: {self.sentence}' if self.findings else self.decision, 160)})"

    @property
    def reasons(self) -> tuple[str, ...]:
        """The findings in words, one sentence each."""
        return tuple(map(sentence_of, self.findings))

    @property
    def sentence(self) -> str:
        """The findings as one line."""
        return "; ".join(self.reasons)

    def find(self, *kinds: str) -> Finding | None:
        """The first finding of one of these kinds, None if there is none."""
        return next((finding for finding in self.findings if finding.kind in kinds), None)

    def check_fields(self) -> None:
        """Raise an error if a finding is of an unknown kind or lacks a number that its sentence needs."""
        assert all(isinstance(reason, str) for reason in self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON: the decision is under `level`."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"level": self.decision, "reasons": list(self.reasons), "findings": findings}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any] | None) -> Self | None:
        """Read back what `to_dict` wrote; the reasons alone, if a file of 0.5.0 has no findings."""
        if not plain:
            return None
        if "findings" not in plain:
            return cls.of(plain["level"], *map(stated, plain["reasons"]))
        return cls(plain["level"], tuple(map(Finding.from_dict, plain["findings"])))
