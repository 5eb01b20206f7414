"""One example outcome of every kind of document, for the laws that hold of all of them."""

from collections.abc import Callable
from functools import cache, partial

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
from tests.studies.history.test_history import found as history
from tests.studies.huse.test_plane import models as rated_models
from tests.studies.stress.small_study import small_study
from tests.studies.sweep.test_document import two_parameters
from tests.studies.sweep.test_sweep import found as temperatures
from textassay import huse_plane
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
    "history": history,
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
