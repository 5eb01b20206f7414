"""What differs in meaning: regions of the joint sample with too much or too little, and texts without a counterpart."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.studies.map_layout import lay_out
from textassay.studies.meaning import Meaning
from textassay.studies.regions import describe
from textassay.studies.strays import strays
from textassay.views.clusters import cluster_labels
from textassay.views.encoders.base import sees
from textassay.views.material import Material
from textassay.views.vectors import F32, Joint, Vectors, joint

# With fewer texts a side there are no regions worth naming.
FEWEST_TEXTS = 20
_FEWEST, _MOST = 4, 30
_STARTS = 5

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]


def what_differs_in_meaning(candidate: Material, reference: Material, *, seed: int) -> Meaning | None:
    """Regions, strays and the map of a candidate beside as many reference texts; None where there are too few texts.

    Regions are clusters of both samples together, found without looking at which text is whose, so the counts in a
    region can be tested as if it had been chosen beforehand.
    """
    if min(len(candidate.sample), len(reference.sample)) < FEWEST_TEXTS:
        return None
    made, real = candidate.view(Vectors), reference.view(Vectors)
    both = joint(made, real)
    k = int(np.clip(round(len(both.values) ** 0.5 / 4), _FEWEST, _MOST))
    labels, centres, distances = _best_clusters(both, k, seed)
    layout = lay_out(centres, made.values, real.values)
    far, missed, far_share, missed_share = strays(candidate, reference)
    return Meaning(
        regions=describe((candidate, reference), labels, distances, layout.regions),
        far=far,
        missed=missed,
        far_share=far_share,
        missed_share=missed_share,
        candidate_points=layout.candidate,
        reference_points=layout.reference,
        sees=sees(candidate.settings.required_encoder),
    )


def _best_clusters(both: Joint, k: int, seed: int) -> tuple[Labels, Floats, Floats]:
    """Labels, centres and distances to them: the tightest of several starts, so that regions hang on none of them."""
    found = []
    for start in range(_STARTS):
        labels = cluster_labels(both, k, seed + start)
        centres = _centres(both.values, labels)
        found.append((labels, centres, np.linalg.norm(both.values - centres[labels], axis=1)))
    return min(found, key=lambda clusters: float((clusters[2] ** 2).sum()))


def _centres(values: F32, labels: Labels) -> Floats:
    """The mean of each cluster."""
    member = csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    sums: Floats = member @ values.astype(np.float64)
    return sums / np.bincount(labels)[:, None]
