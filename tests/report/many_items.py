"""Conditional studies of many items with texts as long as captions, every kind of miss, and triangle profiles."""

import random
from collections.abc import Sequence

from textassay.corpus.items.item_set import Item, ItemSet
from textassay.inference.result import Interval, Result
from textassay.studies.conditional.misses import kind_of
from textassay.studies.conditional.result import Conditional, ItemOutcome, Miss, SystemColumn
from textassay.studies.outcome import Contest
from textassay.studies.verdict import Verdict

LABELS = ("score meteor", "score cider", "trm meteor", "trm edit", "mmd", "frechet")
_WORDS = """
a man woman dog horse riding holding standing on in under the street beach table kitchen red small large wave board
skateboard photo of white black with two people near bus train clock plate food cat bed grass
"""


def many_items(
    count: int = 1000,
    *,
    systems: Sequence[str] = ("beam search", "nucleus 0.9"),
    references: int = 5,
    candidates: int = 10,
    words: int = 11,
    prompts: bool = False,
) -> Conditional:
    """So many items; the first system repeats itself, the last one wanders off."""
    chance = random.Random(7)
    items = [_item(place, chance, systems, references, candidates, words, prompts) for place in range(count)]
    columns = [_column(name, items, chance, at) for at, name in enumerate(systems)]
    people = _column("human", items, chance, -1)
    return Conditional(
        items=ItemSet.of(items, name="captions"),
        human=people,
        systems=tuple(columns),
        labels=LABELS,
        contests=tuple(Contest(systems[0], systems[-1], label, -0.1, -0.15, -0.05, 0.003) for label in LABELS),
        central=tuple(chance.randrange(references) for _ in items),
        human_sizes=(2, 3),
        level=0.95,
        notes=(),
    )


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS.split(), k=words)).capitalize() + "."


def _item(
    place: int,
    chance: random.Random,
    systems: Sequence[str],
    references: int,
    candidates: int,
    words: int,
    prompts: bool,
) -> Item:
    people = tuple(_text(chance, words) for _ in range(references))
    written = {}
    for at, name in enumerate(systems):
        texts = [_text(chance, words) for _ in range(candidates)]
        if at == 0 and place % 5 == 0:
            texts = [people[0]] * (candidates - 2) + texts[:2]
        written[name] = tuple(texts)
    return Item(f"img-{place:05d}", people, written, _text(chance, 8) if prompts else None)


def _miss(chance: random.Random, at: int) -> Miss:
    spread, place = chance.gauss((1.6, -0.3, 0.0)[at], 1.3) / 3, chance.gauss((0.3, 1.6, 0.0)[at], 1.1) / 3
    p = min(1.0, 10 ** (-2 * max(abs(spread), place, 0.0) ** 1.3))
    kind = kind_of(spread, place) if p <= 0.05 else "same"
    return Miss(kind, spread, place, p)


def _result(label: str, estimate: float, p: float, *, half: float | None = None, **parts: float) -> Result:
    name, _, distance = label.partition(" ")
    quality = name == "score"
    return Result(
        metric=name,
        options={"distance": distance} if distance else {},
        estimate=estimate,
        better="higher" if quality else "lower",
        aspect="quality" if quality else "both",
        interval=None if half is None else Interval(estimate - half, estimate + half, 0.95, "bootstrap:items"),
        p_value=None if quality else p,
        parts=parts,
        undefined=None,
        signature=f"{label.replace(' ', '|distance:')}|tok:plain|items:1000/abc|seed:0|v:0.1.0",
        seconds=0.0,
        n=10,
    )


def _profile(chance: random.Random, miss: Miss) -> dict[str, float]:
    tilt = max(min(miss.spread / 4, 0.3), -0.3)
    sides = {"references": -tilt, "candidates": tilt}
    return {
        f"{side}_{rank}": 1 / 3 + sign * way + chance.uniform(-0.02, 0.02)
        for side, way in sides.items()
        for rank, sign in (("shorter", 1.0), ("between", 0.0), ("longer", -1.0))
    }


def _column(name: str, items: Sequence[Item], chance: random.Random, at: int) -> SystemColumn:
    found = []
    for item in items:
        miss = _miss(chance, at)
        parts = _profile(chance, miss)
        results = [
            _result(label, chance.uniform(0.1, 1.4), chance.random() ** 3, **(parts if "trm" in label else {}))
            for label in LABELS
        ]
        found.append(ItemOutcome(item.id, tuple(results), miss))
    whole = [
        _result(
            label, 0.6 + 0.1 * at + 0.05 * place, 0.4 if at < 0 else 0.0004, half=0.03,
            items=float(len(items)), chance=0.55, fisher=1e-9, simes=0.002,
        )
        for place, label in enumerate(LABELS)
    ]  # fmt: skip
    again = {label: _result(label, 0.58 + 0.12 * at, 0.4, half=0.03) for label in LABELS}
    reasons = ("too narrow on 412 of 1,000 items", "less like the references than people are (score meteor 0.31)")
    return SystemColumn(name, tuple(whole), tuple(found), Verdict("differs", reasons), again if at >= 0 else {})
