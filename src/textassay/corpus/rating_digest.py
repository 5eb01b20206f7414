"""Marks of rated items: what they say, who rated which of them how, and nothing of names or of any order."""

import hashlib
from collections.abc import Iterable, Sequence

Mark = bytes


def digest_of(marks: Iterable[Mark]) -> str:
    """What fixes all items together."""
    return hashlib.blake2b(b"".join(sorted(marks)), digest_size=8).hexdigest()


def marks_of(
    said: Sequence[str], item_of: Sequence[int], rater_of: Sequence[int] | None, ratings: Sequence[float]
) -> list[Mark]:
    """A mark of what each item says and of its ratings; of who gave them too, unless `rater_of` is None.

    Raters have no names here: a rater is known by what he or she rated and how, an item by what it says and by whom it
    was rated. Items that say the same may be told apart by their raters, whom other items tell apart, and so on, so
    marks are made anew from marks until that tells no more items apart.
    """
    given = [repr(rating).encode() for rating in ratings]
    marks = [
        _mark(words.encode(errors="surrogatepass"), own)
        for words, own in zip(said, _grouped(item_of, given, len(said)), strict=True)
    ]
    return marks if rater_of is None else _told_apart(marks, item_of, rater_of, given)


def _told_apart(
    items: list[Mark], item_of: Sequence[int], rater_of: Sequence[int], given: Sequence[bytes]
) -> list[Mark]:
    n_raters = max(rater_of, default=-1) + 1
    while True:
        known = len(set(items))
        seen = [items[item] + rating for item, rating in zip(item_of, given, strict=True)]
        raters = [_mark(b"rater", own) for own in _grouped(rater_of, seen, n_raters)]
        by = [raters[rater] + rating for rater, rating in zip(rater_of, given, strict=True)]
        items = [_mark(item, own) for item, own in zip(items, _grouped(item_of, by, len(items)), strict=True)]
        if len(set(items)) == known:
            return items


def _grouped(group_of: Sequence[int], values: Iterable[bytes], n: int) -> list[list[bytes]]:
    groups: list[list[bytes]] = [[] for _ in range(n)]
    for group, value in zip(group_of, values, strict=True):
        groups[group].append(value)
    return groups


def _mark(own: bytes, others: list[bytes]) -> Mark:
    """A short mark of something and of what goes with it, in whatever order."""
    parts = [own, *sorted(others)]
    # With their lengths, so that no two lists of parts look the same.
    whole = b"".join(part for each in parts for part in (len(each).to_bytes(8, "little"), each))
    return hashlib.blake2b(whole, digest_size=16).digest()
