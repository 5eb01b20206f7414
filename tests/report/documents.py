"""Documents made by hand and by hypothesis, for the tests of all forms of a report."""

import itertools
from collections.abc import Iterator

from hypothesis import strategies as st

from tests.report.builders import HOSTILE_MARKUP
from textassay.document.blocks import (
    REAL,
    Badge,
    Block,
    Cell,
    Chart,
    Details,
    Document,
    Entry,
    Facts,
    Head,
    Item,
    Items,
    Legend,
    Notes,
    Quote,
    Row,
    Section,
    Shown,
    Side,
    Signatures,
    Summary,
    SummaryRow,
    Table,
    Text,
)
from textassay.document.plot import Plot, Scale

_WORDS = ("shorter", "fewer headings", "lists", "“quotes” 3 v 1", "topics", "code")
_DECISIONS = ("same", "differs", "collapsed", "copied", "untested")
_GRADES = ("", "slight", "clear", "large")


def comparison(n: int, *, names: tuple[str, ...] = (), same: bool = False) -> Document:
    """A document like that of a comparison of `n` candidates, with reasons of usual length and a table of metrics."""
    names = names or tuple(f"checkpoint-{500 * place}-temperature-0.7" for place in range(1, n + 1))
    rows = tuple(
        SummaryRow(
            name,
            place,
            "same" if same and not place else "differs",
            "" if same and not place else _GRADES[1 + place % 3],
            place + 1,
            (Cell("41 %", 41, "(at least 37 %)"), Cell("as real"), Cell("-12"), Cell(f"{place % 7} %")),
            f"more headings; “Certainly !” {91 + place} v 3",
            (
                f"writes “Certainly !” {place}.259 times per 1,000 words, the reference 0.013 times",
                f"its texts have {283 + place} words on average, those of the reference 187",
                f"writes about programming in {12 + place} % of its texts, the reference in 4 %",
            ),
        )
        for place, name in enumerate(names)
    )
    summary = Summary(
        "Which candidate is distributed like gpt4_0613?",
        "805 texts each, paired by 'instruction'",
        f"All {n} candidates differ from the reference; the closest is the first.",
        ("separable", "quality", "diversity", "repeats"),
        rows,
        ("1 and 2 do not differ in separable share",) if n > 1 else (),
        ("Markdown and length differ in all candidates; --strip markdown compares the words alone",),
        ("All metrics: --table", "Report: --report FILE.html", "Gate: --max-separable"),
    )
    sections = (Section("metrics", "All metrics", (metric_table(names),), "table"),)
    return Document("comparison", "Comparison", summary, sections, names, notes=("805 texts were read",))


def metric_table(names: tuple[str, ...]) -> Table:
    """A table of four metrics with a baseline."""
    heads = (Head("metric"), Head("real v real", True, REAL), *(Head(n, True, i) for i, n in enumerate(names)))
    rows = tuple(
        Row(
            (
                Cell(label),
                Cell("0.484", 0.484, "±0.010"),
                *(Cell(f"{place}.423", place, "±0.0098", marked=place % 2 == 0) for place in range(len(names))),
            ),
            section=section,
        )
        for section, label in (("quality", "bleu-4 ↑"), ("quality", "cr-2 ↑"), ("diversity", "distinct-2 ≈"))
    )
    return Table(heads, rows, caption="± half the width of the interval", footnotes=("* differs",))


def every_block(text: Iterator[str]) -> tuple[Block, ...]:
    """One block of each kind, whose strings are all taken from `text`."""

    def quote() -> Quote:
        return Quote(next(text), next(text), next(text), (next(text),))

    def badge() -> Badge:
        return Badge(next(text), "same")

    side = Side(next(text), (quote(),), 0, badge(), next(text), total=3)
    cells = (Cell(next(text)), Cell(next(text), 1.0, next(text), marked=True, small=(next(text),)))
    rows = (Row(cells, next(text), (quote(),), notes=(next(text),)), Row((Cell(next(text), quoted=True),), quiet=True))
    table = Table((Head(next(text)), Head(next(text), True, 0)), rows, next(text), next(text), (next(text),), total=9)
    plot = Plot(next(text), Scale(next(text)), Scale(next(text)), (), next(text))
    return (
        Text((next(text), next(text))),
        table,
        Chart(plot, next(text), (next(text),)),
        Facts(((next(text), next(text)), (next(text), next(text)))),
        Items((Item(next(text), (side,), (badge(),), next(text), (next(text),)),), 2, title=next(text)),
        Notes((next(text),)),
        Legend((Entry(next(text), next(text), badge=badge()),)),
        Signatures(((next(text), next(text)),)),
        Details(next(text), (Text((next(text),)),), quiet=next(text)),
    )


def document_of(texts: Iterator[str], *, n: int = 2) -> Document:
    """A document with every kind of block, whose strings are all taken from `texts`."""
    rows = tuple(
        SummaryRow(
            next(texts),
            place,
            _DECISIONS[place % len(_DECISIONS)],
            "",
            place + 1,
            (Cell(next(texts), 1.0, next(texts)), Cell(next(texts))),
            next(texts),
            (next(texts), next(texts)),
        )
        for place in range(n)
    )
    ties, caveats, hints = (next(texts),), (next(texts),), (next(texts),)
    columns = (next(texts), next(texts))
    summary = Summary(next(texts), next(texts), next(texts), columns, rows, ties, caveats, hints, next(texts))
    shown: tuple[Shown, ...] = ("screen", "table", "why", "report")
    sections = tuple(Section(f"s{place}", next(texts), every_block(texts), how) for place, how in enumerate(shown))
    return Document("made", next(texts), summary, sections, tuple(row.name for row in rows), notes=(next(texts),))


def unique_words() -> Iterator[str]:
    """Short words, each once: what a form leaves out is missing, and no word is broken."""
    return (f"w{number:03}x" for number in itertools.count())


def hostile_texts() -> Iterator[str]:
    """Texts that are dangerous in a terminal, a page, Markdown, a spreadsheet or LaTeX, in turn."""
    return itertools.cycle(
        (*HOSTILE_MARKUP, r"\input{/etc/passwd}", "100 % of $x_1$ & {more}", "</details><b>", "1. one")
    )


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Documents of up to five candidates with arbitrary texts."""
    texts = st.text(max_size=30) | st.sampled_from(HOSTILE_MARKUP) | st.sampled_from(_WORDS)
    return document_of(iter(lambda: draw(texts), object()), n=draw(st.integers(0, 5)))
