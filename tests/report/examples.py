"""One example outcome of every kind of document, for the laws that hold of all of them."""

from collections.abc import Callable
from functools import cache, partial

from tests.report.builders import conditional, hostile_conditional, huse_study, many_items, one_candidate
from tests.studies.agreement.test_document import found as agreement
from tests.studies.frontier.test_document import on_texts, oracles, toy
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


EXAMPLES: dict[str, Callable[[], Outcome]] = {
    "frontier of a toy": toy,
    "frontier on texts": on_texts,
    "frontier of oracles": oracles,
    "agreement": agreement,
    "sweep": temperatures,
    "sweep of two parameters": two_parameters,
    "stress": small_study,
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
