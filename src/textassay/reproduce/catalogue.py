"""Reproductions by name: which table or figure of which paper, the data it needs, and the function that makes it."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from textassay.corpus.printable import quoted
from textassay.errors import InputError, Setting
from textassay.inference.progress import Progress, Silent
from textassay.reproduce.huse_paper import reproduce_figure_5, reproduce_table_1
from textassay.reproduce.result import Reproduction
from textassay.reproduce.triangle_paper import reproduce_mixtures

# The variable that names the folder of data where the command line does not.
DATA_VARIABLE = "TEXTASSAY_DATA"


class Make(Protocol):
    """A function that makes a reproduction from its files."""

    def __call__(
        self, files: Sequence[Path], *, name: str, n_items: int, seed: int, progress: Progress
    ) -> Reproduction: ...


@dataclass(frozen=True)
class Reproducible:
    """Something published that can be made again: title, key of the paper, data files, and how many items to take."""

    title: str
    paper: str
    files: tuple[str, ...]
    n_items: int
    make: Make


_CAPTIONS = ("captions/coco_val_sample.json",)
_RATINGS = "huse/summarization_ratings.csv"

REPRODUCTIONS: dict[str, Reproducible] = {
    "trm-figure-8": Reproducible(
        "METEOR sees correct captions, TRM sees correct and different ones",
        "chan2022",
        _CAPTIONS,
        400,
        partial(reproduce_mixtures, distance="meteor"),
    ),
    "trm-figure-9": Reproducible(
        "the same with CIDEr-D", "chan2022", _CAPTIONS, 400, partial(reproduce_mixtures, distance="cider")
    ),
    "huse-table-1": Reproducible(
        "HUSE, HUSE-Q and HUSE-D of news summaries",
        "hashimoto2019",
        (_RATINGS, "huse/summarization_items.csv"),
        200,
        reproduce_table_1,
    ),
    "huse-figure-5": Reproducible(
        "HUSE on fewer items and with fewer ratings per item",
        "hashimoto2019",
        (_RATINGS,),
        200,
        reproduce_figure_5,
    ),
}


def find_reproduction(name: str) -> Reproducible:
    """The reproduction of this name."""
    if name in REPRODUCTIONS:
        return REPRODUCTIONS[name]
    near = difflib.get_close_matches(name, REPRODUCTIONS, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"no reproduction {quoted([name])}; {hint}there are: {', '.join(REPRODUCTIONS)}")


def find_files(entry: Reproducible, folder: str | None) -> list[Path]:
    """The data files of a reproduction, which must all be there."""
    how = (Setting("data", "FOLDER"), f" or {DATA_VARIABLE}=FOLDER")
    if not folder:
        raise InputError("no folder of data; wanted ", *how, f", with {', '.join(entry.files)} in it")
    found = [Path(folder) / file for file in entry.files]
    missing = [file for file, path in zip(entry.files, found, strict=True) if not path.is_file()]
    if missing:
        raise InputError(f"{folder}: no file {', '.join(missing)}; wanted the folder that has it (", *how, ")")
    return found


def reproduce(
    name: str,
    *,
    data: str | None,
    n_items: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Make a published table or figure again from the data in a folder."""
    entry = find_reproduction(name)
    files = find_files(entry, data)
    return entry.make(
        files,
        name=name,
        n_items=entry.n_items if n_items is None else n_items,
        seed=seed,
        progress=progress or Silent(),
    )
