"""Edges: the distance between the openings and endings of two samples' texts."""

from textassay.metrics.cnd import weighted_distance
from textassay.metrics.declare import Value, metric
from textassay.views.edges import Edges


@metric(
    "edges",
    family="ngram",
    aspect="both",
    better="lower",
    bounds=(0.0, float("inf")),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="one of the samples has no words",
)
def edges(candidate: Edges, reference: Edges, /, *, n: int = 2) -> Value:
    r"""Distance between openings and endings: the first and the last one to n words of every text.

    .. math:: \sum_e \frac{(Q_e - P_e)^2}{\sqrt{R_e}}

    with the shares P and Q of each opening and ending e among all of a sample's, and R its share in both samples
    together: CND on the edges of texts, with the square-root weights of `cnd:weight=sqrt`. It sees truncated texts,
    stock openings and endings that are cut off, which n-grams of whole texts hardly show.

    It misleads where texts were cut to a length on one side only, or carry a prompt or a signature: the difference is
    real, but it is one of format. The value of two samples from one source is above 0 and falls with size, so compare
    with real v real. Texts of fewer than n words have shorter edges only; a text of one word is its own opening and
    ending.
    """
    return weighted_distance(candidate.table(n), reference.table(n), weight="sqrt")
