"""Figures 10 to 13 of the triangle-rank paper: the caption of an image that is closest to the others by METEOR."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import TextTable, read_items
from textassay.corpus.sample import stream
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Distance, Surroundings, get_distance, pooled_scores
from textassay.errors import InputError, Setting
from textassay.inference.result import signature
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Numbers, Reproduction, Row, Run
from textassay.reproduce.sweeps import TOKENIZER

_FEWEST, _REFERENCES = 10, 5

# The captions of MS-COCO under the pictures; the marked one comes first.
EXAMPLES = {
    "Figure 10, hot dogs": (
        "two hot dogs on a plate loaded with condiments",
        "Two hot dogs sitting side by side with condiments.",
        "Two hot dogs are laden with relish, ketchup, and mustard.",
        "Two hot dogs covered with ketchup and relish on a plate.",
        "Two hot dogs in buns are smothered with condiments.",
    ),
    "Figure 10, breakfast": (
        "Bananas, cereal, juice and other breakfast foods on a tray.",
        "The meal is ready on the tray to be eaten.",
        "A breakfast was delivered to a hotel room on a tray.",
        "a bunch of food and stuff is laying on a tray",
        "This tray includes several different items for a full breakfast.",
    ),
    "Figure 11, lake": (
        "A view of the lake, taken from a boat.",
        "A photo taken from a boat with a long bridge in the background.",
        "A view of the coast from within a boat",
        "The side of a boat and a bridge going over the ocean.",
        "A boat flies its flag while sailing just off a pier.",
    ),
    "Figure 11, microwave": (
        "A microwave oven sitting on top of a counter.",
        "a microwave on a kitchen counter above a dishwasher",
        "this micro wave is black and silver and is on the counter",
        "A microwave sitting on a counter, its stainless steel.",
        "a silver microwave oven on a tan counter and a window",
    ),
    "Figure 12, street": (
        "a street with a line of cars parked on the side",
        "A narrow city street has a leaning one way sign.",
        "Cars are parked alongside the road and a man is standing next to a sign.",
        "A man is standing next to a road sign with a line of parked cars across the street in an urban area",
        "A crooked one way sign pointing into the ground",
    ),
    "Figure 12, controller": (
        "A person is holding a white Wii control",
        "A person pressing a button on a Wii controller.",
        "A hand holds a remote that operates a video game.",
        "There are no image to describe on this page..",
        "someone that is holding a wii remote in their hand",
    ),
    "Figure 13, baseball": (
        "Mother and her son playing in a few",
        "Mom gives her daughter a lesson in using her baseball glove.",
        "two girls in red shirts grass and a baseball glove",
        "A woman playing catch with her young child.",
        "The mom is teaching her daughter to play baseball",
    ),
    "Figure 13, truck": (
        "A blue truck parked next to a tree and a man.",
        "a blue truck and a male in a purple shirt and a tree",
        "Blue pickup truck filled with scrap pieces of household items.",
        "A man has filled his truck with wheelchairs.",
        "a man standing next to a truck full of bikes and a wheel chair",
    ),
}


def reproduce_figures_10_to_13(files: Sequence[Path], run: Run) -> Reproduction:
    """The central caption of the printed examples, and how long central captions are."""
    everything = read_items(files[0])
    enough = [item.references[:_REFERENCES] for item in everything.items if len(set(item.references)) >= _REFERENCES]
    if not _FEWEST <= run.n_items <= len(enough):
        raise InputError(Setting("n_items", run.n_items), f"; wanted {_FEWEST} to {len(enough)} images")
    chosen = stream(run.seed, "central", everything.digest).choice(len(enough), size=run.n_items, replace=False)
    images = [enough[index] for index in sorted(chosen.tolist())]
    table = TextTable.of([*EXAMPLES.values(), *images], tokenizer=get_tokenizer(TOKENIZER))
    meteor = get_distance("meteor", Surroundings(table))
    printed = {name: _mean_distances(texts, table, meteor) for name, texts in EXAMPLES.items()}
    run.progress.start("measuring", len(images))
    longer = []
    for texts in images:
        lengths = table.sequences.lengths[[table.number_of[text] for text in texts]]
        central = int(_mean_distances(texts, table, meteor).argmin())
        longer.append(float(lengths[central] - np.delete(lengths, central).mean()))
        run.progress.step(1)
    return Reproduction(
        name=run.name,
        title="Figures 10 to 13: central captions",
        paper="chan2022",
        design="The mean METEOR distance of the four others to each caption, as their reference, for the eight printed "
        "images, on words between blanks: the caption with the least is central. The same for "
        f"{len(images):,} images of COCO, and how many words longer the central caption is than the mean of the "
        "others.",
        differs=(
            "The paper prints no distances and states neither the tokens nor which caption is METEOR's reference; what "
            "fits the printed examples is measured.",
            "One caption is cut off in the figure, and is measured as it is printed.",
        ),
        claims=(
            Claim(
                "the marked caption of each printed example is central",
                tuple(
                    Check(
                        f"{name}: least distance of another caption less that of the marked one",
                        Measured.exact(float(distances[1:].min() - distances[0])),
                    )
                    for name, distances in printed.items()
                ),
                "above",
                0.0,
                "the printed captions, so that the numbers are exact",
            ),
            Claim(
                "central captions are sparse in detail: shorter than the others",
                (Check("words of the central caption less the mean of the others", Measured.over(longer)),),
                "below",
                0.0,
                "number of words in place of detail; intervals over images",
            ),
        ),
        options=run.options,
        signature=signature(
            run.name,
            {},
            settings={"dist": meteor.signature, "tok": table.tokenizer.signature},
            data={"items": f"{len(images)}/{everything.digest}"},
            resampling={"seed": run.seed},
        ),
        notes=(*getattr(meteor, "notes", ()), _other_ways()),
        tables=(
            Numbers(
                "Mean METEOR distance of the four other captions to it",
                ("marked", *(f"other {index}" for index in range(1, _REFERENCES))),
                tuple(Row(name, tuple(distances.tolist())) for name, distances in printed.items()),
                3,
            ),
        ),
    )


def _other_ways() -> str:
    """How many marked captions are central with other tokens, and with the caption as the candidate."""
    found = {}
    for tokenizer in (TOKENIZER, "plain"):
        table = TextTable.of(list(EXAMPLES.values()), tokenizer=get_tokenizer(tokenizer))
        meteor = get_distance("meteor", Surroundings(table))
        for side, axis in (("reference", 0), ("candidate", 1)):
            central = [_mean_distances(texts, table, meteor, axis=axis).argmin() == 0 for texts in EXAMPLES.values()]
            found[f"tokens {tokenizer}, the caption as the {side}"] = sum(central)
    return "Marked captions that are central: " + "; ".join(
        f"{way}: {count} of {len(EXAMPLES)}" for way, count in found.items()
    )


def _mean_distances(texts: Sequence[str], table: TextTable, distance: Distance, *, axis: int = 0) -> F64:
    """The mean distance of each caption to the others: as their reference (axis 0), or as the candidate (axis 1)."""
    numbers = np.array([table.number_of[text] for text in texts], dtype=np.int64)
    distances = pooled_scores(distance, numbers)[1]
    found: F64 = distances.sum(axis=axis) / (len(texts) - 1)
    return found
