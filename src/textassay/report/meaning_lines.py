"""What differs in meaning, in lines of plain text for the terminal and for Markdown."""

from collections.abc import Iterator, Sequence

from textassay.studies.comparison import Column
from textassay.studies.meaning import Region
from textassay.studies.wording import share

_MOST = 3


def meaning_lines(column: Column, level: float, *, most: int = _MOST) -> Iterator[tuple[str, str]]:
    """A head and what follows it: regions with too much or too little, and the shares of texts without counterpart."""
    meaning = column.meaning
    if meaning is None:
        return
    if regions := meaning.over(level):
        yield "too much about", _listed(regions, most)
    if regions := meaning.under(level):
        yield "too little about", _listed(regions, most)


def region_name(region: Region) -> str:
    """The typical words, or the most central text where no word is typical."""
    if region.words:
        return ", ".join(region.words)
    return next(iter((*region.candidate_examples, *region.reference_examples)), "")


def _listed(regions: Sequence[Region], most: int) -> str:
    shown = [
        f"{region_name(region)} ({share(region.candidate_share)} v {share(region.reference_share)})"
        for region in regions[:most]
    ]
    more = f"; and {len(regions) - most} more" if len(regions) > most else ""
    return "; ".join(shown) + more
