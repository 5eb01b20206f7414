"""The pytest plugin: assertions on generated texts, as functions and as fixtures of the same names.

A fixture also records its decision: pytest lists it at the end of the run and in its JUnit XML.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

# The property of a test that has the decision of a gate.
_PROPERTY = "textassay"


def assert_same_distribution(
    real: Any,
    model: Any,
    max_separable: float | str = 0.1,
    *,
    contaminant: Any = None,
    fail_on: str | Sequence[str] = (),
    undecided: str = "fail",
    strip: str | None = None,
    pair: str | bool | None = None,
    group: str | None = None,
    seed: int = 0,
) -> str:
    """Assert that at most this share of the model's texts is unlike real texts, and return the decision in words.

    Parameters
    ----------
    real, model
        Texts as for `textassay.compare`: lists of strings, paths, columns, or samples.
    max_separable : float or str
        The margin of the separable share, such as 0.1 or "10%".
    contaminant : optional
        Texts of which the model's may have at most the margin. By default the texts themselves with their words in
        random order.
    fail_on : str or sequence of str
        Further reasons to fail: any of differs, collapsed, copied and format.
    undecided : {"fail", "skip", "pass"}
        What the test does where there are not enough texts for a decision.
    strip, pair, group, seed
        As for `textassay.compare`.

    Returns
    -------
    str
        Each rule with its decision and the numbers behind it.
    """
    from textassay.studies.compare.study import compare
    from textassay.studies.gate.result import FAIL, UNDECIDED
    from textassay.studies.gate.rules import GateRules

    __tracebackhide__ = True
    if undecided not in ("fail", "skip", "pass"):
        raise ValueError(f"undecided={undecided!r}; wanted fail, skip or pass")
    rules = GateRules(max_separable=max_separable, contaminant=contaminant, fail_on=fail_on)
    # Only what the rules read is measured.
    options: dict[str, Any] = {"metrics": "repetition", "quick": True, "explain": bool(fail_on)}
    options |= {"strip": strip, "pair": pair, "group": group, "seed": seed}
    gate = compare(real, {"model": model}, gate=rules, **options).gate
    assert gate is not None
    said = _in_words(gate)
    if gate.decision == FAIL or (gate.decision == UNDECIDED and undecided == "fail"):
        pytest.fail(said, pytrace=False)
    if gate.decision == UNDECIDED and undecided == "skip":
        pytest.skip(said)
    return said


def assert_not_collapsed(texts: Any, *, most: float = 0.5) -> str:
    """Assert that less than this share of texts repeats another one, and return the share in words.

    Parameters
    ----------
    texts
        Texts as for `textassay.compare`.
    most : float
        The share of texts that are exact or near duplicates from which on the test fails.

    Returns
    -------
    str
        The share of texts that repeat another one, and the number of different texts.
    """
    from textassay import metrics
    from textassay.corpus.printable import many, share

    __tracebackhide__ = True
    if not 0 < most <= 1:
        raise ValueError(f"most={most!r}; wanted a share above 0, at most 1")
    found = metrics.repetition(texts, n_resamples=0)
    if found.undefined is not None:
        pytest.fail(f"texts: {found.undefined}", pytrace=False)
    different = many(int(found.parts["unique_texts"]), "different text")
    said = f"{share(found.estimate)} of texts repeat another one ({different} of {found.n:,})"
    if found.estimate >= most:
        pytest.fail(f"collapsed: {said}", pytrace=False)
    return said


def _in_words(gate: Any) -> str:
    """One paragraph per rule: the decision, why, and the bounds drawn beside the margin."""
    from textassay.corpus.printable import printable
    from textassay.studies.gate.document import line_of
    from textassay.studies.gate.result import sentence

    lines = ((f"{check.rule}: {check.decision}, {sentence(check)}", line_of(check)) for check in gate.checks)
    return "\n".join(printable(line) for pair in lines for line in pair if line)


def _recorded(function: Callable[..., str], request: pytest.FixtureRequest) -> Callable[..., str]:
    """The function, which also records what it returns as a property of the test."""

    def call(*arguments: Any, **options: Any) -> str:
        __tracebackhide__ = True
        said = function(*arguments, **options)
        request.node.user_properties.append((_PROPERTY, said))
        return said

    return call


@pytest.fixture(name="assert_same_distribution")
def _same_distribution(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Assert that at most a share of a model's texts is unlike real texts: (real, model, max_separable=0.1)."""
    return _recorded(assert_same_distribution, request)


@pytest.fixture(name="assert_not_collapsed")
def _not_collapsed(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Assert that less than half of texts repeat another one: (texts)."""
    return _recorded(assert_not_collapsed, request)


def _decided(reporter: Any) -> Iterator[str]:
    """The decisions of all tests that passed, each line behind the name of its test."""
    for report in reporter.stats.get("passed", ()):
        for name, said in report.user_properties:
            if name == _PROPERTY and report.when == "call":
                yield from (f"{report.nodeid}: {line}" for line in said.splitlines()[:1])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the decisions of passed tests; failures show theirs."""
    lines = list(_decided(terminalreporter))
    if lines:
        terminalreporter.section("textassay")
        for line in lines:
            terminalreporter.line(line)
