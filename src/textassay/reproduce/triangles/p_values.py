"""Tables 3 and 4 of the triangle-rank paper: log p-values of human captions, and of MAUVE with few captions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Numbers, Reproduction, Row, Run
from textassay.reproduce.triangles.images import (
    NO_MODEL,
    OVER_IMAGES,
    PAPER,
    REFERENCES,
    SCORES,
    Sides,
    halves,
    known_mean,
    last_out,
    open_images,
    signature_of,
    stand_ins,
    vector_note,
)

# Table 3: log p-values of human captions on MS-COCO.
TABLE_3 = {
    "METEOR": -0.6303,
    "TRM-METEOR": -0.5941,
    "CIDEr-D": -0.5957,
    "TRM-CIDEr-D": -0.4742,
    "BERT": -0.6230,
    "TRM-BERT": -0.5633,
    "MMD-BERT": -0.6550,
}
# Table 4: log p-values on MS-COCO with five candidates and five references, of MAUVE and of METEOR.
TABLE_4 = {"CLIPCap": (-0.3980, -2.5585), "VLP": (-0.3234, -2.8609), "human": (-0.2189, -0.7233)}


def reproduce_table_3(files: Sequence[Path], run: Run) -> Reproduction:
    """Mean log p-values of human captions against human captions of the same image."""
    images = open_images(files, run, list(TABLE_3))
    run.progress.start("measuring", len(TABLE_3))
    one_out: dict[str, F64] = {}
    two_out: dict[str, F64] = {}
    for metric in TABLE_3:
        if not metric.startswith("TRM"):
            one_out[metric] = images.log_p(metric, last_out(images), run.seed, tail="upper")
        two_out[metric] = images.log_p(metric, halves(images), run.seed)
        run.progress.step(1)
    chance = float(np.log(np.arange(1, REFERENCES + 1) / REFERENCES).mean())
    basis = f"about a third of the printed difference of METEOR and TRM-CIDEr-D; {OVER_IMAGES}"
    return Reproduction(
        name=run.name,
        title="Table 3: log p-values of human captions",
        paper=PAPER,
        design=f"{len(images.items):,} images of COCO: the last of five references as the candidate against the four "
        "others, by the upper tail (values at least as large as observed); and two of the five against the three "
        "others, by the tail of worse values, because TRM needs two candidates. The mean over images of the natural "
        "log of the exact p-value.",
        differs=(
            "The paper describes ten against ten captions of the c40 split of COCO, which is not available here. Its "
            "printed values of scores are near those of five captions of which one is left out.",
            *vector_note(images),
        ),
        claims=(
            Claim(
                "the log p-values of scores and MMD are those of Table 3, if one of five captions is left out",
                tuple(Check(metric, Measured.over(values), TABLE_3[metric]) for metric, values in one_out.items()),
                "within",
                0.05,
                basis,
            ),
            Claim(
                "the log p-values of TRM are those of Table 3",
                tuple(
                    Check(metric, Measured.over(values), TABLE_3[metric])
                    for metric, values in two_out.items()
                    if metric not in one_out
                ),
                "within",
                0.05,
                basis,
            ),
            Claim(
                "TRM has a higher p-value than its score",
                tuple(
                    Check(f"TRM-{name} less {name}", Measured.over(two_out[f"TRM-{name}"] - two_out[name]))
                    for name in SCORES
                ),
                "above",
                0.0,
                f"two of five captions left out; {OVER_IMAGES}",
            ),
        ),
        options=run.options,
        signature=signature_of(run, images),
        notes=(
            *images.notes,
            f"If each of five captions is left out once and none are tied, the p-values of an image are 0.2, 0.4, 0.6, "
            f"0.8 and 1, and their mean log is {chance:.2f} whatever the captions are. Only ties and the choice of the "
            "caption that is left out move the first column, so this table says little about metrics.",
        ),
        tables=(
            Numbers(
                "Mean of the log p-values",
                ("published", "one of five, ours", "two of five, ours"),
                tuple(
                    Row(
                        metric,
                        (
                            printed,
                            known_mean(one_out[metric]) if metric in one_out else None,
                            known_mean(two_out[metric]),
                        ),
                    )
                    for metric, printed in TABLE_3.items()
                ),
                3,
            ),
        ),
    )


def reproduce_table_4(files: Sequence[Path], run: Run) -> Reproduction:
    """Log p-values of MAUVE and METEOR with five candidates and five references."""
    images = open_images(files, run, ("METEOR", "MAUVE-BERT"))
    others = stand_ins(images)
    cases: dict[str, list[Sides]] = {
        "captions of another image": [
            (texts, item.references[:REFERENCES]) for item, texts in zip(images.items, others, strict=True)
        ],
        "human": halves(images),
    }
    found = {
        case: {metric: images.log_p(metric, sides, run.seed) for metric in ("MAUVE-BERT", "METEOR")}
        for case, sides in cases.items()
    }
    return Reproduction(
        name=run.name,
        title="Table 4: log p-values of MAUVE and METEOR with few captions",
        paper=PAPER,
        design=f"{len(images.items):,} images of COCO: five captions of the most similar other image against five "
        "references, and two against three references; the vectors of all captions of an image form two clusters, and "
        "MAUVE (scale 5) and METEOR are computed for all ways to choose the candidates.",
        differs=(
            NO_MODEL,
            "The human captions are two against three, the paper's five against five.",
            *vector_note(images),
        ),
        claims=_few_claims(found["captions of another image"], found["human"]),
        options=run.options,
        signature=signature_of(run, images),
        notes=images.notes,
        tables=(
            Numbers(
                "Mean of the log p-values",
                ("MAUVE", "METEOR"),
                tuple(
                    [Row(f"{name}, published", pair) for name, pair in TABLE_4.items()]
                    + [Row(f"{case}, ours", tuple(map(known_mean, pair.values()))) for case, pair in found.items()]
                ),
                3,
            ),
        ),
    )


def _few_claims(model: Mapping[str, F64], human: Mapping[str, F64]) -> tuple[Claim, ...]:
    printed = [mauve - meteor for name, (mauve, meteor) in TABLE_4.items() if name != "human"]
    return (
        Claim(
            "MAUVE is much less sensitive than METEOR with five candidates (CLIPCap: -0.40 against -2.56)",
            (Check("log p of MAUVE less that of METEOR", Measured.over(model["MAUVE-BERT"] - model["METEOR"])),),
            "above",
            min(printed) / 2,
            f"half of the smallest printed difference, {min(printed):.2f}; {OVER_IMAGES}",
        ),
        Claim(
            "the log p-values of people are -0.22 by MAUVE and -0.72 by METEOR",
            tuple(
                Check(metric, Measured.over(values), printed)
                for (metric, values), printed in zip(human.items(), TABLE_4["human"], strict=True)
            ),
            "within",
            0.2,
            f"a tenth of the printed difference of MAUVE and METEOR for models; {OVER_IMAGES}",
        ),
    )
