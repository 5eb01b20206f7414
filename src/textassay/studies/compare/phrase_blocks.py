"""Phrases in a document: those that a candidate writes too often or too rarely, and those that a classifier uses."""

import re
from collections.abc import Iterator, Sequence

from textassay.corpus.printable import on_one_line, shortened
from textassay.document.blocks import Block, Cell, Details, Head, Quote, Row, Section, Table, Text
from textassay.document.words import number
from textassay.studies.compare.differences import Phrase
from textassay.studies.compare.ranking import Ranking
from textassay.studies.compare.result import Column, Comparison, Cue, SureText

_WIDTH, _LONGEST_PHRASE = 160, 80
# The prefixes that subword tokenizers give to a word or its continuation; the text itself does not have them.
_SUBWORD_MARK = re.compile("^(?:[Ġ▁]+|##)")
_BEFORE, _BEHIND = " .,;:!?)]}", " ,;:([{"
# Phrases per list, examples per phrase, and cues and sure texts, of all candidates together.
_ALL_PHRASES, _ALL_EXAMPLES, _ALL_CUES = 600, 600, 400
# Candidates whose lists are open in a report.
_MOST_OPEN = 3


def marked(text: str, phrase: str, *, width: int = _WIDTH) -> Quote:
    r"""At most `width` characters of a text around the first occurrence of a phrase, which is marked if it is found.

    Tokens of the phrase may be joined or apart in the text, and upper or lower case.

    >>> marked("Two men don't know.", "don ' t")
    Quote(before='Two men ', phrase="don't", after=' know.', tags=())
    """
    start, end = _find(text, phrase)
    end = min(end, start + width)
    # The phrase is in the middle of a long text; what one side does not need, the other side may use.
    left = max(0, min(start - (width - (end - start)) // 2, len(text) - width))
    right = min(len(text), left + width)
    before = ("…" if left else "") + text[left:start]
    return Quote(before, text[start:end], text[end:right] + ("…" if right < len(text) else ""))


def _find(text: str, phrase: str) -> tuple[int, int]:
    tokens = phrase.split()
    plain = [bare for token in tokens if (bare := _SUBWORD_MARK.sub("", token))]
    for words in (tokens, plain):
        joined = r"\s*".join(map(re.escape, words))
        # As whole words first: the phrase "a" should not be marked inside "cat".
        for pattern in (rf"(?<!\w){joined}(?!\w)", joined) if joined else ():
            found = re.search(pattern, text, re.IGNORECASE)
            if found:
                return found.span()
    return 0, 0


def as_written(phrase: Phrase) -> str:
    """The phrase as a text has it, without the spaces between its tokens, if an example shows that.

    >>> as_written(Phrase("don ' t", 3, 40, 2, 6.5, ("Two men don't know.",)))
    "don't"
    """
    quotes = (marked(on_one_line(text), phrase.text) for text in phrase.examples)
    shown = next((quote.phrase for quote in quotes if quote.phrase.strip()), phrase.text)
    # Punctuation around words says little, except for marks such as in "Certainly!".
    bare = shown.lstrip(_BEFORE).rstrip(_BEHIND)
    return shortened(bare or shown, 40)


def telling(phrases: Sequence[Phrase]) -> list[Phrase]:
    """Phrases without markup: first those with a word of three letters, and with at least twice the rate."""
    words = [phrase for phrase in phrases if not phrase.is_markup]
    return sorted(words, key=lambda phrase: (not _is_readable(phrase.text), not _is_rare(phrase)))


def _is_rare(phrase: Phrase) -> bool:
    """Whether one sample hardly has it, compared with the other one."""
    low, high = sorted((phrase.candidate_count, phrase.reference_count))
    return 2 * low <= high


def _is_readable(text: str) -> bool:
    tokens = text.split()
    return any(sum(map(str.isalpha, token)) > 2 or (not token.isascii() and token.isalpha()) for token in tokens)


def share_of(most: int, total: int, n: int) -> int:
    """How many of a list each of `n` candidates has, so that a report stays small: `most`, or its part of `total`.

    >>> share_of(12, 600, 3), share_of(12, 600, 100), share_of(2, 100, 1000)
    (12, 6, 1)
    """
    return max(min(most, total // max(n, 1)), 1)


def phrase_lines(column: Column, *, most: int = 4) -> Iterator[str]:
    """The phrases that differ in words: too often and too rarely, then markup and punctuation."""
    for section, phrases in _lists(column):
        shown = ", ".join(f"“{shortened(phrase.text, _LONGEST_PHRASE)}” {_rates(phrase)}" for phrase in phrases[:most])
        yield f"{section}, per 1,000 words (candidate v reference): {shown}"


def _rates(phrase: Phrase) -> str:
    return f"{number(phrase.candidate_rate)} v {number(phrase.reference_rate)}"


def _lists(column: Column) -> Iterator[tuple[str, list[Phrase]]]:
    """The phrases of each kind: words too often and too rarely, then markup."""
    for kind, of_kind in (("", False), ("markup ", True)):
        for word, phrases in (("too often", column.over), ("too rarely", column.under)):
            found = [phrase for phrase in phrases if phrase.is_markup is of_kind]
            if found:
                yield f"{kind}{word}", found


def phrase_section(found: Comparison, order: Ranking) -> Section | None:
    """The phrases of each candidate with examples, the closest candidate first."""
    rows = [row for row in order.rows if row.column.over or row.column.under]
    if not rows:
        return None if not found.n_resamples else Section("phrases", "Which phrases differ", (Text((_NO_PHRASE,)),))
    details = [
        Details(
            shortened(row.column.name, 60),
            (_phrase_table(row.column, len(found)),),
            row.index,
            _most_telling(row.column),
            is_open=not index or len(rows) <= _MOST_OPEN,
        )
        for index, row in enumerate(rows)
    ]
    return Section("phrases", "Which phrases differ", (Text((_PHRASES,)), *details))


def _most_telling(column: Column) -> str:
    word, phrases = ("too often", column.over) if column.over else ("too rarely", column.under)
    return f"{word}: {', '.join(f'“{as_written(phrase)}”' for phrase in telling(phrases)[:3])}"


_NO_PHRASE = "No candidate uses any phrase clearly too often or too rarely."
_PHRASES = (
    "Phrases that a candidate uses too often or too rarely compared with the reference, the clearest first. The columns"
    " have how often each occurs per 1,000 words, and the z-score of the log-odds. The examples come from the sample"
    " that contains the phrase more often."
)


def _phrase_table(column: Column, n: int) -> Table:
    most, examples = share_of(12, _ALL_PHRASES, 4 * n), share_of(2, _ALL_EXAMPLES, 12 * n)
    lists = list(_lists(column))
    rows = [_phrase_row(phrase, section.capitalize(), examples) for section, some in lists for phrase in some[:most]]
    total = sum(len(some) for _, some in lists)
    heads = (Head("phrase"), *_numeric("candidate", "reference", "z"))
    return Table(heads, tuple(rows), total=total if total > len(rows) else None)


def _numeric(*heads: str) -> tuple[Head, ...]:
    return tuple(Head(head, numeric=True) for head in heads)


def _phrase_row(phrase: Phrase, section: str, examples: int) -> Row:
    values = (phrase.candidate_rate, phrase.reference_rate, phrase.z)
    quotes = tuple(marked(on_one_line(text), phrase.text) for text in phrase.examples[:examples])
    name = Cell(shortened(phrase.text, _LONGEST_PHRASE), quoted=True)
    return Row((name, *(Cell(number(value), value) for value in values)), section, quotes)


def classifier_section(found: Comparison) -> Section | None:
    """What the classifier of `dd` uses, where it was measured."""
    known = [(index, column) for index, column in enumerate(found.candidates) if column.separation is not None]
    if not known:
        return None
    details = [_classified(index, column, len(known)) for index, column in known]
    return Section("classifier", "What the classifier uses", (Text((_CLASSIFIER,)), *details))


_CLASSIFIER = (
    "The classifier of dd separates candidate and reference by their words. These phrases help most to recognise each"
    " sample; the columns have the number of texts that contain them. Weights and scores are relative to the spread of"
    " all scores, and positive towards the candidate. Every text is classified by all other texts."
)


def _classified(index: int, column: Column, n: int) -> Details:
    separation = column.separation
    assert separation is not None
    most = share_of(10, _ALL_CUES, 2 * n)
    cues = {
        "Phrases of the candidate": separation.candidate_cues,
        "Phrases of the reference": separation.reference_cues,
    }
    rows = [_cue_row(cue, title) for title, some in cues.items() for cue in some[:most]]
    texts = [
        _sure_row(sure, title)
        for title, some in (
            ("Most clearly generated", separation.generated),
            ("Most clearly real", separation.real),
            ("Generated, but taken for real", separation.mistaken),
        )
        for sure in some[: share_of(5, _ALL_CUES, 3 * n)]
    ]
    blocks: list[Block] = []
    if rows:
        blocks.append(Table((Head("phrase"), *_numeric("candidate", "reference", "weight")), tuple(rows)))
    if texts:
        blocks.append(Table((Head("text"), *_numeric("score")), tuple(texts)))
    recognised = ", ".join(f"“{shortened(cue.text, 30)}”" for cue in separation.candidate_cues[:3])
    quiet = f"recognised by {recognised}" if recognised else ""
    return Details(shortened(column.name, 60), tuple(blocks), index, quiet, is_open=n == 1)


def _cue_row(cue: Cue, section: str) -> Row:
    counts = (cue.candidate_texts, cue.reference_texts)
    cells = (*(Cell(f"{count:,}", count) for count in counts), Cell(number(cue.weight), cue.weight))
    return Row((Cell(shortened(cue.text, _LONGEST_PHRASE), quoted=True), *cells), section)


def _sure_row(sure: SureText, section: str) -> Row:
    return Row((Cell(shortened(sure.text, _WIDTH), quoted=True), Cell(number(sure.score), sure.score)), section)
