"""Effects: what a rise of a metric's value says about a candidate.

Every metric declares one of these effects. Verdicts take their sentences from it, rankings and planes the direction, so
that a metric takes part in them by its declaration alone.
"""

from collections.abc import Mapping

# Each effect, and whether it is a gain (1) or a loss (-1) of quality or diversity.
EFFECTS: Mapping[str, int] = {
    # Quality and diversity together.
    "closer": 1,
    "farther": -1,
    "less distinguishable": 1,
    # Quality.
    "more common phrases": 1,  # more of its phrases are phrases that the reference has often
    "more known phrases": 1,  # more of its phrases are phrases that the reference has
    "more like the reference": 1,  # more of its texts are like texts of the reference
    "less likely": -1,  # its texts are less likely, by a model of the reference or by the oracle
    "more copies": -1,  # more of its texts are texts that the model was trained on
    # Diversity.
    "more diverse": 1,
    "less diverse": -1,
    "more repeats": -1,  # more of its texts repeat another one
    "more coverage": 1,  # more of the reference is like texts of the candidate
    "reference less likely": -1,  # the texts of the reference are less likely, by a model of the candidate
}  # fmt: skip
_GAIN = {"higher": 1, "lower": -1}


def check_effect(name: str, rise: str, better: str) -> None:
    """Raise an error unless the effect is known, and is a gain if and only if higher values are better."""
    if rise not in EFFECTS:
        raise TypeError(f"{name}: rise={rise!r} is no known effect; there are: {', '.join(EFFECTS)}")
    if EFFECTS[rise] != _GAIN.get(better, EFFECTS[rise]):
        raise TypeError(f"{name}: a rise is {rise!r}, so it cannot be better={better!r}")
