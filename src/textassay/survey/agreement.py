"""How far the raters of a study agree so far."""

import math

from textassay.survey.store import Store


def agreement(store: Store) -> float:
    """Krippendorff's alpha of all ratings (interval scale); NaN while no item has two ratings that could differ."""
    import numpy as np

    from textassay.inference.krippendorff import alpha

    places: dict[str, int] = {}
    pairs = [(places.setdefault(rating.item.id, len(places)), rating.value) for rating in store.ratings()]
    if not pairs:
        return math.nan
    items, values = zip(*pairs, strict=True)
    return alpha(np.array(items, dtype=np.int64), np.array(values, dtype=np.float64))
