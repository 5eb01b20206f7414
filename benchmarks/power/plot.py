"""The plot of the power study as SVG: one row per damage, one column per sample size, one block per corpus."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

LEFT, COLUMN, GAP, ROW, TOP, LEGEND = 230, 200, 26, 24, 92, 560
OVERALL, BEST, RIVAL = "#00796b", "#d84315", "#9e9e9e"
TICKS = (0.0, 0.5, 1.0)


def plot(cells: Sequence[Any], *, rivals: Mapping[str, str]) -> str:
    """A dot per test: the overall test, the best rival of each damage, and the other rivals."""
    sizes = sorted({cell.n for cell in cells})
    corpora = sorted({cell.corpus for cell in cells})
    parts: list[str] = []
    height = TOP
    for corpus in corpora:
        rows = list(dict.fromkeys(cell.label for cell in cells if cell.corpus == corpus))
        parts.append(_text(10, height - 10, corpus.capitalize(), weight=600))
        parts += [_text(LEFT - 12, height + ROW * k + ROW / 2 + 4, label, anchor="end") for k, label in enumerate(rows)]
        for column, n in enumerate(sizes):
            left = LEFT + column * (COLUMN + GAP)
            chosen = {cell.label: cell for cell in cells if (cell.corpus, cell.n) == (corpus, n)}
            if chosen:
                parts += _panel(left, height, [chosen.get(label) for label in rows], rivals, title=f"n = {n:,}")
        height += ROW * len(rows) + 66
    width = max(LEFT + len(sizes) * (COLUMN + GAP) + 4, LEGEND)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height - 30}" width="{width}" '
            f'height="{height - 30}" font-family="system-ui, sans-serif" font-size="12" role="img" '
            'aria-label="Power by damage, corpus and sample size">',
            f'<rect width="{width}" height="{height - 30}" fill="#ffffff"/>',
            *_legend(),
            *parts,
            "</svg>\n",
        ]
    )


def _legend() -> Iterable[str]:
    """What the marks mean; the bar is 1.96 standard errors to each side."""
    yield _dot(18, 22, OVERALL, 5)
    yield _text(30, 26, "overall test, ± 1.96 standard errors")
    yield _dot(270, 22, BEST, 4)
    yield _text(282, 26, "best rival for this damage")
    yield _ring(460, 22)
    yield _text(472, 26, "other rivals")
    yield _text(18, 50, "Share of runs with p ≤ 0.05; the dashed line is at 0.05.")


def _panel(left: float, top: float, cells: Sequence[Any], rivals: Mapping[str, str], *, title: str) -> Iterable[str]:
    bottom = top + ROW * len(cells)
    yield _text(left + COLUMN / 2, top - 10, title, anchor="middle")
    for tick in TICKS:
        x = left + tick * COLUMN
        yield f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="#e0e0e0"/>'
        yield _text(x, bottom + 16, f"{tick:g}", anchor="middle")
    x = left + 0.05 * COLUMN
    yield f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="#757575" stroke-dasharray="3 3"/>'
    for row, cell in enumerate(cells):
        y = top + ROW * row + ROW / 2
        yield f'<line x1="{left}" y1="{y}" x2="{left + COLUMN}" y2="{y}" stroke="#f0f0f0"/>'
        if cell is not None:
            yield from _marks(left, y, cell, rivals)


def _marks(left: float, y: float, cell: Any, rivals: Mapping[str, str]) -> Iterable[str]:
    powers = {name: share.power for name, share in cell.tests.items() if name in rivals}
    best = max(powers, key=lambda name: powers[name]) if powers else None
    for name, power in powers.items():
        if name != best:
            yield _ring(left + power * COLUMN, y)
    overall = cell.tests["overall"]
    low, high = (min(max(overall.power + sign * 1.96 * overall.error, 0), 1) for sign in (-1, 1))
    yield (
        f'<line x1="{left + low * COLUMN:.1f}" y1="{y}" x2="{left + high * COLUMN:.1f}" y2="{y}" '
        f'stroke="{OVERALL}" stroke-width="2"/>'
    )
    yield _dot(left + overall.power * COLUMN, y, OVERALL, 5)
    if best is not None:
        yield _dot(left + powers[best] * COLUMN, y, BEST, 4, title=f"{rivals[best]} {powers[best]:.2f}")


def _dot(x: float, y: float, colour: str, radius: float, *, title: str = "") -> str:
    inner = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}" stroke="#ffffff" stroke-width="1">{inner}</circle>'
    )


def _ring(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y}" r="3.5" fill="none" stroke="{RIVAL}" stroke-width="1.2"/>'


def _text(x: float, y: float, content: str, *, anchor: str = "start", weight: int = 400) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text {place} fill="#212121">{escape(content)}</text>'
