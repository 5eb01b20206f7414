"""The items as one compact block of JSON that a script on the page unpacks: as many as the page has room for.

Every item takes part in the list as long as there is room for its numbers. After that the items that miss farthest
come with their texts and every p-value, until the page is full. A text is written where it first appears; from then on
its number stands for it.
"""

import math
from collections.abc import Sequence
from typing import Any

from textassay.corpus.printable import shortened
from textassay.inference.p_value import is_significant
from textassay.inference.result import Result
from textassay.report.cells import ARROWS
from textassay.report.items_profile import profile, sides_of
from textassay.report.items_view import outcomes, readable, worst_first
from textassay.report.page_with_items import MOST_CHARACTERS, Block, block_of, fitted
from textassay.studies.conditioned import KINDS, Conditional, ItemOutcome

# p-values as whole ten-thousandths, standard scores as hundredths, shares as hundredths: digits that are shown.
_P, _Z, _SHARE = 10_000, 100, 100


def items_block(conditional: Conditional, *, room: int) -> Block:
    """As many items as fit into so many bytes, those that miss farthest first."""
    order = worst_first(conditional)
    frame = _frame(conditional)
    writer = _Writer(conditional, frame["decimals"], frame["profiled"], frame["sides"])
    fit = fitted(frame, map(writer.row, order), map(writer.texts, order), room=room)
    frame |= {"rows": sorted(fit.rows), "texts": fit.texts}
    return block_of(frame, listed=len(fit.rows), with_texts=len(fit.texts))


def _frame(conditional: Conditional) -> dict[str, Any]:
    """What holds for all items: names, words, and how many decimals each metric's column shows."""
    results = [[o.results[at] for s in conditional.systems for o in s.items] for at in range(len(conditional.labels))]
    # The profile has the same parts on every item, but items without a number have none.
    some = [next((r for r in column if profile(r)), None) for column in results]
    return {
        "total": len(conditional.items),
        "level": conditional.level,
        "kinds": list(KINDS),
        "systems": [shortened(system.name, 60) for system in conditional.systems],
        "human": shortened(conditional.human.name, 60),
        "labels": [shortened(label, 60) for label in conditional.labels],
        "signs": [ARROWS.get(result.better, "") for result in conditional.human.results],
        "decimals": [_decimals([r.estimate for r in column]) for column in results],
        "profiled": [at for at, result in enumerate(some) if result is not None],
        "sides": sides_of(result for result in some if result is not None),
        "rows": [],
        "texts": [],
    }


def _decimals(values: Sequence[float]) -> int:
    """Decimals that show three digits of the largest value."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return min(max(2 - math.floor(math.log10(largest)), 0), 12) if largest > 0 else 2


class _Writer:
    """Writes rows and texts as arrays; it remembers which texts it has written."""

    def __init__(self, conditional: Conditional, decimals: list[int], profiled: list[int], sides: list[str]) -> None:
        self._conditional = conditional
        self._outcomes = outcomes(conditional)
        self._human = {outcome.id: outcome for outcome in conditional.human.items}
        self._scales = [10**digits for digits in decimals]
        self._profiled, self._sides = profiled, sides
        self._written: dict[str, int] = {}

    def row(self, place: int) -> list[Any]:
        """Place, id, and for each system: kind, spread, place, p and the estimates; 0 for a system without any."""
        item = self._conditional.items.items[place]
        return [place, readable(item.id, 120), *(self._numbers(outcome) for outcome in self._outcomes[place])]

    def texts(self, place: int) -> list[Any]:
        """Place, prompt, references, the central one, candidates a system, and the numbers behind the scores."""
        item, found = self._conditional.items.items[place], self._outcomes[place]
        central = self._conditional.central[place]
        human = self._human.get(item.id)
        return [
            place,
            None if item.prompt is None else self._text(item.prompt),
            [self._text(text) for text in item.references],
            -1 if central is None else central,
            [[self._text(t) for t in item.candidates.get(s.name, ())] for s in self._conditional.systems],
            [self._p_values(outcome) for outcome in found],
            [self._estimates(human), self._p_values(human)],
            [self._profiles(outcome) for outcome in found],
            [self._reasons(outcome) for outcome in (human, *found)],
        ]

    def _text(self, text: str) -> str | int:
        if text in self._written:
            return self._written[text]
        self._written[text] = len(self._written)
        return readable(text, MOST_CHARACTERS)

    def _numbers(self, outcome: ItemOutcome | None) -> list[Any] | int:
        if outcome is None:
            return 0
        miss = outcome.miss
        kind = KINDS.index(miss.kind) if miss.kind in KINDS else KINDS.index("untested")
        z_scores = [_whole(z, _Z) for z in (miss.spread, miss.place)]
        return [kind, *z_scores, self._p(miss.p_value), *self._estimates(outcome)]

    def _estimates(self, outcome: ItemOutcome | None) -> list[int | None]:
        results = outcome.results if outcome else ()
        return [_whole(result.estimate, scale) for result, scale in zip(results, self._scales, strict=False)]

    def _p_values(self, outcome: ItemOutcome | None) -> list[int | None]:
        return [None if r.p_value is None else self._p(r.p_value) for r in (outcome.results if outcome else ())]

    def _p(self, p: float) -> int | None:
        """Rounded, but never to the other side of the level."""
        whole, level = _whole(p, _P), self._conditional.level
        if whole is None or is_significant(whole / _P, level) == is_significant(p, level):
            return whole
        return whole + (1 if whole / _P < p else -1)

    def _profiles(self, outcome: ItemOutcome | None) -> list[list[int | None]]:
        results = [outcome.results[at] for at in self._profiled] if outcome else []
        return [self._shares(result) for result in results]

    def _shares(self, result: Result) -> list[int | None]:
        found = profile(result)
        return [_whole(share, _SHARE) for side in self._sides for share in found.get(side, (math.nan,) * 3)]

    def _reasons(self, outcome: ItemOutcome | None) -> dict[str, str | int]:
        results = outcome.results if outcome else ()
        return {str(at): self._text(r.undefined) for at, r in enumerate(results) if r.undefined is not None}


def _whole(value: float, scale: float) -> int | None:
    return round(value * scale) if math.isfinite(value) else None
