"""The page frame of all reports: templates, assets, security policy, verdict words, and items within a size limit."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from textassay.corpus.printable import printable, shortened
from textassay.report.charts.svg import element, marker
from textassay.report.table import level_text, spread
from textassay.studies.compare.result import Column, Comparison, Finding, Phrase
from textassay.studies.outcome import Contest, Outcome
from textassay.studies.wording import number, p_text, share


def asset(*names: str) -> Markup:
    """The named files of the templates folder, one after the other."""
    folder = files("textassay.report").joinpath("templates")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return Markup("\n".join(texts))  # noqa: S704


def policy(*, style: str, script: str) -> str:
    """A content security policy under which this style and this script run, and nothing is asked for."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def setting_text(outcome: Outcome, name: str, *, most: int = 8) -> str:
    """A setting of an outcome, several values separated by commas; empty if it is not known."""
    value = outcome.settings.get(name, ())
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join(shortened(str(each), 60) for each in values[:most])


def telling(column: Column) -> list[Finding]:
    """Findings that move the metrics, to be mended before anything else is read."""
    return [finding for finding in column.findings if not finding.harmless]


def hidden(column: Column) -> list[Finding]:
    """Findings that the tokenizer hides."""
    return [finding for finding in column.findings if finding.harmless]


_DOTS = "…"
# What subword tokenizers write before a word or its continuation; the text itself does not have it.
_SUBWORD_MARK = re.compile("^(?:[Ġ▁]+|##)")


@dataclass(frozen=True)
class Lit:
    """What stands before the phrase, the phrase as the text has it (empty when it was not found), and what follows."""

    before: str
    phrase: str
    after: str


def lit(text: str, phrase: str, *, width: int = 160) -> Lit:
    r"""At most `width` characters of the text around the first place where the phrase stands, made printable.

    Tokens of the phrase may be joined or apart in the text, and upper or lower case.

    >>> lit("Two men \x1b don't know.", "don ' t")
    Lit(before='Two men \\x1b ', phrase="don't", after=' know.')
    """
    start, end = _find(text, phrase)
    end = min(end, start + width)
    # The phrase stands in the middle of a long text, and what one side does not need the other may have.
    left = max(0, min(start - (width - (end - start)) // 2, len(text) - width))
    right = min(len(text), left + width)
    return Lit(
        (_DOTS if left else "") + printable(text[left:start]),
        printable(text[start:end]),
        printable(text[end:right]) + (_DOTS if right < len(text) else ""),
    )


def _find(text: str, phrase: str) -> tuple[int, int]:
    tokens = phrase.split()
    plain = [bare for token in tokens if (bare := _SUBWORD_MARK.sub("", token))]
    for words in (tokens, plain):
        joined = r"\s*".join(map(re.escape, words))
        # As whole words first: the phrase "a" should not light up inside "cat".
        for pattern in (rf"(?<!\w){joined}(?!\w)", joined) if joined else ():
            found = re.search(pattern, text, re.IGNORECASE)
            if found:
                return found.span()
    return 0, 0


WORDS = {
    "same": "No difference found",
    "differs": "Differs",
    "collapsed": "Collapsed",
    "copied": "Copied from the reference",
    "untested": "Not tested",
}


def standing(column: Column) -> str:
    """A key of `WORDS`: the level of the verdict; what was not judged was not tested either."""
    if column.verdict is None or column.verdict.level not in WORDS:
        return "untested"
    return column.verdict.level


def summary(comparison: Comparison) -> str:
    """The outcome in a sentence."""
    if len(comparison.candidates) == 1:
        return _single(comparison)
    counts = Counter(map(standing, comparison.candidates))
    clauses = []
    if counts["collapsed"]:
        clauses.append(f"{counts['collapsed']} {_verb(counts['collapsed'], 'has', 'have')} collapsed")
    if counts["differs"]:
        clauses.append(f"{counts['differs']} {_verb(counts['differs'], 'differs', 'differ')} from the reference")
    if counts["copied"]:
        clauses.append(f"{counts['copied']} {_verb(counts['copied'], 'has', 'have')} texts copied from it")
    if counts["same"]:
        clauses.append(f"{counts['same']} {_verb(counts['same'], 'shows', 'show')} no difference")
    if counts["untested"]:
        clauses.append(f"{counts['untested']} {_verb(counts['untested'], 'was', 'were')} not tested")
    listed = clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])} and {clauses[-1]}" if clauses else "none"
    return f"Of {len(comparison.candidates)} candidates, {listed}."


def _single(comparison: Comparison) -> str:
    column = comparison.candidates[0]
    said = {
        "same": "shows no difference from the reference",
        "differs": "differs from the reference",
        "collapsed": "has collapsed",
        "copied": "has texts copied from the reference",
        "untested": "was not tested against the reference",
    }[standing(column)]
    return f"{shortened(column.name, 60)} {said}."


def _verb(count: int, one: str, several: str) -> str:
    return one if count == 1 else several


_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def embedded(value: Any) -> str:
    """JSON that can neither end its script element nor begin another one.

    >>> print(embedded(["</script>", None]))
    ["\\u003c/script\\u003e",null]
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def size(value: Any) -> int:
    """How many bytes a value takes."""
    return len(embedded(value).encode())


def fitting(parts: Iterable[list[Any]], room: int) -> tuple[list[list[Any]], int]:
    """The first parts that go into so many bytes, with a comma each, and the room that is left."""
    kept = []
    for part in parts:
        taken = size(part) + 1
        if taken > room:
            break
        room -= taken
        kept.append(part)
    return kept, room


MOST_BYTES = 1_500_000


@cache
def environment() -> Environment:
    """Templates that escape everything, and make every plain text printable on its way out."""
    found = Environment(
        loader=PackageLoader("textassay.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    found.filters |= {
        "cut": shortened,
        "number": number,
        "level": level_text,
        "p_text": p_text,
        "share": share,
        "spread": _spread,
        "key": key,
        "standing": standing,
        "lit": _lit,
        "telling": telling,
        "hidden": hidden,
    }
    return found


def _safe(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def key(index: int) -> Markup:
    """The mark of a candidate, to stand before its name."""
    return element("svg", marker(index, 8.0, 8.0, 5.0), viewBox="0 0 16 16", class_="key", aria_hidden="true")


def _lit(phrase: Phrase, most: int) -> list[Lit]:
    return [lit(text, phrase.text) for text in phrase.examples[:most]]


def _spread(contest: Contest) -> str:
    return spread(contest.estimate, low=contest.low, high=contest.high)


# A single text may not push the texts of other items out of the page.
MOST_CHARACTERS = 3000
# What the page around the items may take: the rest is for the items themselves.
_MOST_AROUND = 600_000
# Sentences on how many items have their texts differ in length with the numbers in them.
_SLACK = 2_000
# Numbers of the list may take this share of the room; what is left is for texts.
_FOR_ROWS = 0.8


@dataclass(frozen=True)
class Block:
    """The JSON text, safe inside a script element, and how many items it lists and how many come with texts."""

    json: Markup
    listed: int
    with_texts: int


def template(name: str, filters: dict[str, Any]) -> Template:
    """A template that has the filters of all reports, and these."""
    own = environment().overlay()
    own.filters = environment().filters | filters
    return own.get_template(name)


def page_with_items(
    page: Template, contents: Iterable[dict[str, Any]], block: Callable[[dict[str, Any], int], Block]
) -> str:
    """The page with the first content that leaves room for items, and the block of as many as go into that room."""
    content, around = {}, 0
    for content in contents:
        around = len(page.render(content, block=Block(Markup(), 0, 0)).encode())
        if around <= _MOST_AROUND:
            break
    return page.render(content, block=block(content, max(MOST_BYTES - around - _SLACK, 0)))


@dataclass(frozen=True)
class Fitted:
    """The rows and the texts that there was room for; the first rows are those that have texts."""

    rows: list[list[Any]]
    texts: list[list[Any]]


def fitted(frame: dict[str, Any], rows: Iterable[list[Any]], texts: Iterable[list[Any]], *, room: int) -> Fitted:
    """As many rows as there is room for beside the frame, then texts for as many of these, both in order."""
    room -= size(frame)
    for_rows = int(room * _FOR_ROWS)
    kept, left = fitting(rows, for_rows)
    written, _ = fitting((text for _, text in zip(kept, texts, strict=False)), room - for_rows + left)
    return Fitted(kept, written)


def block_of(frame: dict[str, Any], *, listed: int, with_texts: int) -> Block:
    """The frame with everything in it as a block for the page."""
    return Block(Markup(embedded(frame)), listed, with_texts)  # noqa: S704
