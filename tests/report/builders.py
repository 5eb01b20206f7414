"""Comparisons made by hand for the tests of reports: any number of candidates and metrics, and hostile texts."""

import math
from collections.abc import Sequence
from html.parser import HTMLParser

from textassay.inference.result import Interval, Result
from textassay.studies.compare.result import Column, Comparison, Finding, Phrase
from textassay.studies.outcome import Contest
from textassay.studies.verdict import Verdict

# Name, aspect, better, whether it has a test, and what real text reaches.
KINDS = {
    "cr": ("quality", "higher", True, 0.3),
    "nrr": ("diversity", "closer", True, -0.2),
    "bleu": ("quality", "higher", False, 0.6),
    "self_bleu": ("diversity", "closer", False, 0.5),
    "cnd": ("both", "lower", True, 0.01),
}
HOSTILE = (
    "<script>alert(1)</script>",
    "</style></script><img src=x onerror=alert(1)>",
    "\" onmouseover=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}",
    "nul \x00 escape \x1b[31m delete \x7f c1 \x85 line \u2028 override \u202egnp.exe \u2066 isolate",
    "bytes \udcff alone",
    "שלום עולם",
    "👩‍👩‍👧 emoji",
    "https://example.org/a.js //example.org/b.css url(https://example.org/c)",
    "long" * 2000,
)


def result(
    metric: str,
    estimate: float,
    *,
    half: float | None = 0.02,
    p: float | None = 0.001,
    n: int = 500,
    order: int = 2,
    undefined: str | None = None,
) -> Result:
    """A result of a known metric; without a test where the metric has none."""
    aspect, better, tested, _ = KINDS[metric]
    shown = None if half is None or undefined else Interval(estimate - half, estimate + half, 0.95, "jackknife")
    return Result(
        metric=metric,
        options={"n": order},
        estimate=math.nan if undefined else estimate,
        better=better,
        aspect=aspect,
        interval=shown,
        p_value=p if tested and not undefined else None,
        parts={},
        undefined=undefined,
        signature=f"{metric}|n:{order}|tok:words+lower|candidate:{n}/abc|reference:500/def|resamples:999|seed:7|v:0.1.0",
        seconds=0.1,
        n=n,
    )


def phrase(text: str, *examples: str, more: int = 40, less: int = 2, z: float = 6.5) -> Phrase:
    """An over-produced phrase."""
    return Phrase(text, len(text.split()) or 1, more, less, z, examples)


def column(name: str, results: Sequence[Result], **extra: object) -> Column:
    """A judged candidate with a phrase on each side."""
    values: dict[str, object] = {
        "verdict": Verdict("differs", ("less diverse than the reference (nrr-2 -0.31)",)),
        "over": (phrase("a big dog", "There is A BIG dog here", "no such words"),),
        "under": (phrase("of it", "most of it", more=1, less=30, z=-5.25),),
    }
    values["adjusted"] = tuple(math.nan if found.p_value is None else found.p_value for found in results)
    return Column(name, 500, "abc", tuple(results), **(values | extra))  # type: ignore[arg-type]


def comparison(
    names: Sequence[str] = ("small", "large"),
    *,
    metrics: Sequence[tuple[str, int]] = (("cr", 2), ("nrr", 2), ("bleu", 4), ("self_bleu", 4), ("cnd", 2)),
    half: float | None = 0.02,
    p: float | None = 0.001,
    real_n: int = 500,
    **extra: object,
) -> Comparison:
    """Candidates that move away from real text one after the other, with tests and intervals or without."""
    real = [result(metric, KINDS[metric][3], half=half, p=None, n=real_n, order=order) for metric, order in metrics]
    columns = [
        column(name, [result(m, KINDS[m][3] * (1 + 0.1 * place), half=half, p=p, order=n) for m, n in metrics])
        for place, name in enumerate(names)
    ]
    values: dict[str, object] = {
        "reference": Column("real_train", 500, "def", ()),
        "real": Column("real v real", real_n, "def", tuple(real)),
        "candidates": tuple(columns),
        "labels": tuple(f"{metric}-{order}" for metric, order in metrics),
        "contests": (),
        "level": 0.95,
        "notes": ("samples cut to 500 texts each (the largest has 10,000)",),
        "n_resamples": 999,
        "settings": {"tokenizer": "words+lower", "resamples": 999, "seed": 7, "version": "0.1.0"},
    }
    return Comparison(**(values | extra))  # type: ignore[arg-type]


def hostile(texts: Sequence[str] = HOSTILE) -> Comparison:
    """Every place that holds a text from outside holds each hostile text somewhere."""
    names = ["cr", "nrr", "bleu", "self_bleu", "cnd"]
    real = [result(metric, KINDS[metric][3]) for metric in names]
    columns = [
        column(
            text,
            [*(result(metric, KINDS[metric][3] * 1.1) for metric in names[:-1]), result("cnd", 0.0, undefined=text)],
            verdict=Verdict("differs", tuple(texts)),
            findings=(Finding(text, text, 0.9, 0.1, text),),
            over=(phrase(text, f"before {text} after", text),),
            under=(phrase("after", f"before {text} after"),),
        )
        for text in texts
    ]
    return Comparison(
        reference=Column(texts[0], 500, "def", ()),
        real=Column("real v real", 500, "def", tuple(real)),
        candidates=tuple(columns),
        labels=tuple(texts[: len(names)]),
        contests=tuple(Contest(text, text, text, 0.1, 0.05, 0.15, 0.01) for text in texts),
        level=0.95,
        notes=tuple(texts),
        settings={"tokenizer": texts[0], "encoder": tuple(texts)},
    )


def pairs(names: Sequence[str], count: int) -> tuple[Contest, ...]:
    """So many contests, the last one the clearest."""
    return tuple(Contest(names[0], names[1], f"m-{i}", 0.01 * i, 0.01 * i - 1, 0.01 * i + 1, 0.5) for i in range(count))


class Page(HTMLParser):
    """A parsed page: its elements, its text, and complaints where tags do not nest."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "wbr"})
    APART = frozenset({"dd", "dt", "div", "h1", "h2", "h3", "li", "p", "small", "summary", "td", "th", "title"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.complaints: list[str] = []
        self.within: dict[str, str] = {}
        self.feed(text)
        self.close()
        self.complaints += [f"never closed: {tag}" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element and that it is open."""
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost open element, which must be this one."""
        if not self.open or self.open[-1] != tag:
            self.complaints.append(f"</{tag}> closes {self.open[-1:]} at {self.getpos()}")
        else:
            self.open.pop()
        if tag in self.APART:
            self.text += " "

    def handle_data(self, data: str) -> None:
        """Gather what is read, and the content of script and style apart from it."""
        if self.open and self.open[-1] in {"script", "style"}:
            self.within[self.open[-1]] = self.within.get(self.open[-1], "") + data
        else:
            self.text += data

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of this name."""
        return [attributes for name, attributes in self.elements if name == tag]
