"""One example outcome of every kind of document, for the laws that hold of all of them."""

from collections.abc import Callable
from functools import cache, partial

from tests.laws import corpus
from tests.report.builders import (
    HOSTILE_MARKUP,
    comparison,
    conditional,
    hostile_conditional,
    hostile_meaning,
    huse_study,
    many_items,
    one_candidate,
    pairs,
    with_meaning,
)
from tests.studies.agreement.test_document import found as agreement
from tests.studies.answers.test_answers import records, run
from tests.studies.compare.test_document import SCRIPTS, real_run, usual
from tests.studies.frontier.test_document import on_texts, oracles, toy
from tests.studies.gate.test_gate import FAST, mixture
from tests.studies.history.test_history import found as history
from tests.studies.huse.test_plane import models as rated_models
from tests.studies.stress.small_study import small_study
from tests.studies.sweep.test_document import two_parameters
from tests.studies.sweep.test_sweep import found as temperatures
from textassay import compare, huse_plane, plan
from textassay.studies.gate.rules import GateRules
from textassay.studies.outcome import Outcome


@cache
def plane() -> Outcome:
    """Several models in the plane of HUSE."""
    return huse_plane(rated_models(), n_resamples=19)


@cache
def hostile_answers() -> Outcome:
    """Answers with hostile texts as prompts, answers and names of systems."""
    texts = [text for text in HOSTILE_MARKUP if "\udcff" not in text]
    return run(
        [
            {"model": name, "prompt": prompt, "text": text}
            for name in texts[:5]
            for prompt in texts
            for text in texts[:3]
        ]
    )


@cache
def gated() -> Outcome:
    """A comparison with rules, of which one candidate keeps all and two break some."""
    candidates = {"same": corpus(2, 200), "other": mixture(3, 200, 0.5), "collapsed": corpus(4, 4) * 50}
    return compare(corpus(1, 200), candidates, gate=GateRules(max_separable="30%", fail_on="collapsed"), **FAST)


@cache
def planned() -> Outcome:
    """The number of texts that a gate needs."""
    return plan(corpus(1, 300), margin="40%", n_runs=20, tokenizer="whitespace")


EXAMPLES: dict[str, Callable[[], Outcome]] = {
    "comparison": real_run,
    "comparison, differing": partial(usual, 3),
    "comparison, meaning": lambda: with_meaning(comparison(contests=pairs(("small", "large"), 12), real_n=250)),
    "comparison, hostile": hostile_meaning,
    "comparison, estimates": partial(comparison, ["only"], half=None, p=None),
    "comparison, many": partial(usual, 40),
    "comparison, long names": partial(usual, len(SCRIPTS), SCRIPTS),
    "answers": lambda: run([*records("a", 20, varied=12), *records("b", 15, varied=15, n=3)]),
    "answers of one system": lambda: run(records("a", 3, varied=2)),
    "answers, hostile": hostile_answers,
    "frontier of a toy": toy,
    "frontier on texts": on_texts,
    "frontier of oracles": oracles,
    "agreement": agreement,
    "sweep": temperatures,
    "sweep of two parameters": two_parameters,
    "stress": small_study,
    "gate": gated,
    "history": history,
    "plan": planned,
    "plane": plane,
    "conditional": partial(conditional, sensitivity=True),
    "conditional, hostile": hostile_conditional,
    "conditional, one candidate": one_candidate,
    "conditional, many items": partial(many_items, 5000),
    "huse": huse_study,
    "huse, hostile": partial(huse_study, hostile=True),
    "huse, mean ratings": partial(huse_study, raters=False),
    "huse, many items": partial(huse_study, 4000),
}
