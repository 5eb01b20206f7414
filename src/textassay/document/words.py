"""Numbers, p-values and lists in words: the one place where a number becomes text."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence


def number(value: float) -> str:
    """Three significant digits, without an exponent where it can be.

    >>> [number(x) for x in (0.28745, 12.3456, 1234.5, 0.000147193, -0.00168, 0.0, 8.4326)]
    ['0.287', '12.3', '1,234', '0.000147', '-0.00168', '0', '8.43']
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if abs(value) >= 1e9:
        return f"{value:.2e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < 1e-5:
        return f"{value:.2e}"
    return f"{value:.{max(2 - math.floor(math.log10(abs(value))), 0)}f}"


def plus_minus(half_width: float) -> str:
    """Half an interval's width in two significant digits.

    >>> plus_minus(0.00593), plus_minus(0.0), plus_minus(math.inf)
    ('0.0059', '0', '∞')
    """
    if not math.isfinite(half_width):
        return number(half_width)
    if half_width == 0:
        return "0"
    if half_width < 1e-5:
        return f"{half_width:.1e}"
    return f"{half_width:.{max(1 - math.floor(math.log10(half_width)), 0)}f}"


def two_decimals(value: float) -> str:
    """A correlation or a score with two decimals, as papers print them.

    >>> two_decimals(0.8366), two_decimals(-0.001), two_decimals(math.nan)
    ('0.84', '0.00', '–')
    """
    return f"{value:z.2f}" if math.isfinite(value) else number(value)


# Half a width describes an interval only if its sides are about equal: they may differ by this share of the width.
_LOPSIDED = 0.1


def spread(estimate: float, *, low: float, high: float) -> str:
    """An interval beside its estimate: half its width, or its bounds where the estimate is not in the middle.

    >>> spread(0.421, low=0.4126, high=0.4294), spread(0.0, low=0.0, high=0.0152)
    ('±0.0084', '[0, 0.015]')
    """
    width = high - low
    if math.isnan(width):
        return number(width)
    if math.isfinite(width) and abs(high + low - 2 * estimate) <= _LOPSIDED * width:
        return f"±{plus_minus(width / 2)}"
    return f"[{_bound(low, width)}, {_bound(high, width)}]"


def _bound(value: float, width: float) -> str:
    """A bound with as many decimals as two significant digits of the width have."""
    if value == 0 or not 1e-5 <= width < math.inf:
        return number(value)
    return f"{value:z,.{max(1 - math.floor(math.log10(width)), 0)}f}"


def level_text(level: float) -> str:
    """The level of intervals as a percentage, never rounded to another one.

    >>> level_text(0.95), level_text(0.975), level_text(0.999)
    ('95 %', '97.5 %', '99.9 %')
    """
    return f"{100 * level:g} %"


def sentence(words: str) -> str:
    """Words as a sentence: with a full stop, and a capital letter unless they begin with a name such as `cnd-2`.

    >>> sentence("closest: t=1"), sentence("cnd-2 is best"), sentence("Is it?")
    ('Closest: t=1.', 'cnd-2 is best.', 'Is it?')
    """
    first = words.split(maxsplit=1)[:1]
    capital = words[:1].upper() if first and first[0].strip(",:;").isalpha() else words[:1]
    return f"{capital}{words[1:]}" + ("" if words.endswith((".", "?", "!")) else ".")


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them; "none" without any.

    >>> listed(["items"]), listed(["contexts", "ratings", "raters"]), listed([])
    ('items', 'contexts, ratings and raters', 'none')
    """
    *first, last = words or ("none",)
    return f"{', '.join(first)} and {last}" if first else last


def listed_some(words: Sequence[str], most: int) -> str:
    """Words as a sentence lists them, at most this many and the number of the others.

    >>> listed_some(["cr", "nrr"], 2), listed_some(["cr", "nrr", "cnd", "dd"], 2)
    ('cr and nrr', 'cr, nrr and 2 more')
    """
    return listed(words) if len(words) <= most else f"{', '.join(words[:most])} and {len(words) - most:,} more"


def span(counts: Iterable[int]) -> str:
    """A count, or the range of counts and the most frequent one.

    >>> span([5, 5, 5]), span([5, 6, 5])
    ('5', '5 to 6, mostly 5')
    """
    tally = Counter(counts)
    if len(tally) < 2:
        return f"{next(iter(tally), 0):,}"
    return f"{min(tally):,} to {max(tally):,}, mostly {tally.most_common(1)[0][0]:,}"


def p_text(p: float, *, floor: float = 0.0) -> str:
    """A p-value in two digits where it matters; one at the smallest value that could come out is a bound.

    >>> p_text(0.001), p_text(0.0432), p_text(0.73), p_text(math.nan), p_text(0.001, floor=0.001)
    ('0.001', '0.043', '0.73', '–', '≤ 0.001')
    """
    if math.isnan(p):
        return number(p)
    if p < 0.0005:
        return "<0.001"
    shown = f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
    return f"≤ {shown}" if p <= floor * (1 + 1e-9) else shown


def cited_p(p: float, *, floor: float = 0.0, n_tests: int = 1) -> str:
    """A p-value as a sentence cites it; at the smallest value that is possible (`floor`) it is an upper bound.

    >>> cited_p(0.043), cited_p(1e-5), cited_p(0.001, floor=0.001), cited_p(0.03, n_tests=2)
    ('p = 0.043', 'p < 0.001', 'p ≤ 0.001', 'p = 0.030 after correction for 2 tests')
    """
    correction = f" after correction for {n_tests} tests" if n_tests > 1 else ""
    return f"p {compared(p_text(p, floor=floor))}{correction}"


def compared(text: str) -> str:
    """A p-value with its sign of comparison: `= 0.043`, `< 0.001`, `≤ 0.001`."""
    return text.replace("<", "< ") if text[0] in "<≤" else f"= {text}"
