"""METEOR as in NLTK, for whole items at once; a text scores 1 against itself.

Lower-cased words are matched exactly in the first stage, then by their stems, then by the synonyms of their stems if
WordNet is installed. A stage goes through the unmatched words from the end of the hypothesis and matches each with the
last unmatched word of the reference that fits. In the first stage this pairs the last occurrences of a word, then the
last but one, and so on. It is therefore enough to compare words numbered from the end, for all pairs of texts at once.
The later stages concern few words of few pairs and process them one by one.

NLTK subtracts half of the cube of chunks per matched word from every score, so that identical texts of m words score
1 - 0.5 / m^3: 0.5 for one word. Here identical texts (the same tokens in lower case) score 1. All other pairs have the
same score as in NLTK, even if all words match as stems or synonyms: `stop` scores 0.5 against `stopped`.

Lavie, A. and Agarwal, A. (2007). METEOR: an automatic metric for MT evaluation with high levels of correlation with
human judgments. Proceedings of the Second Workshop on Statistical Machine Translation.

Stems are those of Porter, M. (1980). An algorithm for suffix stripping. Program 14(3), 130-137.
The rules keep the paper's names: `m` is
the measure, the number of times a vowel is followed by a consonant. The extensions: a list of irregular words; `ies`
and `ied` kept as `ie` on short words; `y` to `i` after any consonant but a first one; `logi` and `fulli`; and stems of
a vowel and a consonant count as short. Agrees with NLTK except for words such as `a*ded`, in which NLTK confuses `*d`,
its mark for a double consonant, with letters of the word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.corpus.item_set import TextTable
from textassay.distances.base import Surroundings
from textassay.distances.wordnet import VARIABLES, WordNet, find_wordnet

VOWELS = frozenset("aeiou")

# Each stem with its irregular words.
FAMILIES = (
    *("sky sky skies", "die dying", "lie lying", "tie tying", "news news", "howe howe"),
    *("inning inning innings", "outing outing outings", "canning canning cannings"),
    *("proceed proceed", "exceed exceed", "succeed succeed"),
)
IRREGULAR = {word: family.split()[0] for family in FAMILIES for word in family.split()[1:]}
# Words this short are their own stems.
SHORT = 2

# Endings and their replacements. Longer endings come before the endings that they contain.
STEP_2 = dict(
    (
        *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
        *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
        *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
        *(("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"), ("logi", "log")),
    )
)
STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def stem(word: str) -> str:
    """The stem of a word, in lower case.

    >>> [stem(word) for word in ("Relational", "hopping", "skies", "flies", "dies", "enjoy", "happily")]
    ['relat', 'hop', 'sky', 'fli', 'die', 'enjoy', 'happili']
    """
    lower = word.lower()
    if lower in IRREGULAR:
        return IRREGULAR[lower]
    if len(word) <= SHORT:
        return lower
    form = _step_1c(_step_1b(_step_1a(lower)))
    return _step_5(_step_4(_step_3(_step_2(form))))


def _shape(form: str) -> str:
    """The form with `c` for each consonant and `v` for each vowel; y is a vowel after a consonant only."""
    shape: list[str] = []
    before = "v"
    for letter in form:
        is_vowel = letter in VOWELS or (letter == "y" and before == "c")
        before = "v" if is_vowel else "c"
        shape.append(before)
    return "".join(shape)


def _m(form: str) -> int:
    return _shape(form).count("vc")


def _is_short(form: str) -> bool:
    """The paper's *o: ends consonant, vowel, consonant, the last not w, x or y; or is a vowel and a consonant."""
    shape = _shape(form)
    return shape == "vc" or (shape.endswith("cvc") and form[-1] not in "wxy")


def _step_1a(form: str) -> str:
    """Plurals."""
    if form.endswith("ies"):
        return form[:-1] if len(form) == 4 else form[:-2]
    if form.endswith("sses"):
        return form[:-2]
    return form[:-1] if form.endswith("s") and not form.endswith("ss") else form


def _step_1b(form: str) -> str:
    """Past tenses and participles."""
    if form.endswith("ied"):
        return form[:-1] if len(form) == 4 else form[:-2]
    if form.endswith("eed"):
        return form[:-1] if _m(form[:-3]) > 0 else form
    for ending in ("ed", "ing"):
        if form.endswith(ending) and "v" in _shape(form[: -len(ending)]):
            return _mended(form[: -len(ending)])
    return form


def _mended(form: str) -> str:
    """The rest of a verb without its ending, corrected to the spelling of its base form."""
    if form.endswith(("at", "bl", "iz")):
        return form + "e"
    if len(form) >= 2 and form[-1] == form[-2] and _shape(form)[-1] == "c":
        return form if form[-1] in "lsz" else form[:-1]
    return form + "e" if _m(form) == 1 and _is_short(form) else form


def _step_1c(form: str) -> str:
    """A final y becomes i after a consonant, unless the consonant is the only other letter."""
    is_y = form.endswith("y") and len(form) > 2 and _shape(form[:-1])[-1] == "c"
    return form[:-1] + "i" if is_y else form


def _step_2(form: str) -> str:
    """Double endings become single ones."""
    ending = _ending(form, STEP_2)
    # The l of logi belongs to the stem, so that geology is treated like archaeology.
    if not ending or _m(form[:-3] if ending == "logi" else form[: -len(ending)]) == 0:
        return form
    short = form[: -len(ending)] + STEP_2[ending]
    return _step_2(short) if ending == "alli" else short


def _step_3(form: str) -> str:
    """Endings of adjectives and of words derived from them."""
    ending = _ending(form, STEP_3)
    return form[: -len(ending)] + STEP_3[ending] if ending and _m(form[: -len(ending)]) > 0 else form


def _step_4(form: str) -> str:
    """Remove the last ending if the rest is long enough."""
    ending = _ending(form, STEP_4)
    rest = form[: -len(ending)]
    if not ending or _m(rest) <= 1 or (ending == "ion" and rest[-1] not in "st"):
        return form
    return rest


def _step_5(form: str) -> str:
    """Remove a final e, and one l of a final ll."""
    if form.endswith("e"):
        m = _m(form[:-1])
        if m > 1 or (m == 1 and not _is_short(form[:-1])):
            form = form[:-1]
    return form[:-1] if form.endswith("ll") and _m(form[:-1]) > 1 else form


def _ending(form: str, endings: dict[str, str] | tuple[str, ...]) -> str:
    """The first of the endings that the form has."""
    return next((ending for ending in endings if form.endswith(ending)), "")


# The stems that a word of a hypothesis can match, and the stem of a word of a reference.
Sought = dict[int, tuple[int, ...]]
Offered = dict[int, int]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words of a run by the numbers of their stems, and the synonyms looked up so far.

    As in NLTK, stems are compared with synonyms of stems: `getting` matches `going` because `get` and `go` are
    synonyms, but `baby` does not match `infant`, because its stem `babi` is not in WordNet.
    """

    stem_of: list[int] = field(repr=False)
    stems: dict[str, int] = field(repr=False)
    names: list[str] = field(repr=False)
    wordnet: WordNet | None
    _synonyms: dict[int, frozenset[int]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, words: Sequence[str], wordnet: WordNet | None) -> "Lexicon":
        """From the lower-cased words of a run, in the order of their numbers."""
        stems: dict[str, int] = {}
        stem_of = [stems.setdefault(stem(word), len(stems)) for word in words]
        return cls(stem_of, stems, list(stems), wordnet)

    def synonyms(self, of: int, /) -> frozenset[int]:
        """The stems of the run that are synonyms of a stem."""
        if self.wordnet is None:
            return frozenset()
        if of not in self._synonyms:
            found = self.wordnet.synonyms(self.names[of]) & self.stems.keys()
            self._synonyms[of] = frozenset(self.stems[name] for name in found)
        return self._synonyms[of]

    def shared_stems(self, words: set[int]) -> tuple[Sought, Offered]:
        """The words that share their stem with another word."""
        first: dict[int, int] = {}
        shared = {self.stem_of[word] for word in words if first.setdefault(self.stem_of[word], word) != word}
        offered = {word: of for word in words if (of := self.stem_of[word]) in shared}
        return {word: (of,) for word, of in offered.items()}, offered

    def shared_synonyms(self, words: set[int]) -> tuple[Sought, Offered]:
        """The words whose stem has a synonym among the other stems, and the words whose stem is such a synonym."""
        among = {self.stem_of[word] for word in words}
        sought = {of: tuple(found) for of in among if (found := (self.synonyms(of) & among) - {of})}
        offered = {found for synonyms in sought.values() for found in synonyms}
        return (
            {word: sought[of] for word in words if (of := self.stem_of[word]) in sought},
            {word: of for word in words if (of := self.stem_of[word]) in offered},
        )


FREE = -1


@dataclass(frozen=True, eq=False)
class WordRows:
    """The words of all texts in one sequence: text, position, number, and occurrence from the end, for each word."""

    text: I64
    place: I64
    word: I64
    occurrence: I64
    bounds: I64

    @classmethod
    def of(cls, word: I64, bounds: I64) -> "WordRows":
        """From the numbers of all words and the bounds of the texts."""
        text = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        # Sorted so that equal words of a text are adjacent, in their order.
        kind = text * (word.max(initial=0) + 1) + word
        order = np.argsort(kind, kind="stable")
        last = np.searchsorted(kind[order], kind[order], side="right") - 1
        from_end = np.empty_like(word)
        from_end[order] = last - np.arange(len(word))
        occurrence = word * (from_end.max(initial=0) + 1) + from_end
        return cls(text, np.arange(len(word)) - bounds[text], word, occurrence, bounds)

    def take(self, numbers: I64) -> "WordRows":
        """Some of the texts, with new numbers."""
        lengths = self.bounds[numbers + 1] - self.bounds[numbers]
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        text = np.repeat(np.arange(len(numbers)), lengths)
        index = np.arange(bounds[-1]) - bounds[text]
        at = self.bounds[numbers][text] + index
        return WordRows(text, index, self.word[at], self.occurrence[at], bounds)


class Concerned(NamedTuple):
    """The words of a text that a stage can match, by their index in the sequence."""

    seeking: list[tuple[int, tuple[int, ...]]]
    wanted: set[int]
    offering: dict[int, list[int]]


def align(rows: WordRows, lexicon: Lexicon) -> tuple[I64, I64, I64]:
    """Words matched exactly, all matched words, and chunks; row i, column j is hypothesis i, reference j."""
    places = _equal(rows)
    taken = places != FREE
    n_equal = _sums(taken, rows.bounds)
    words = set(rows.word.tolist())
    for sought, offered in (lexicon.shared_stems(words), lexicon.shared_synonyms(words)):
        if sought:
            _match(rows, places, taken, concerned=_concerned(rows, sought, offered))
    matched = places != FREE
    # A match that continues the one before it does not start a new chunk.
    goes_on = np.zeros_like(matched)
    goes_on[:, 1:] = matched[:, :-1] & (places[:, 1:] == places[:, :-1] + 1) & (rows.place[1:] > 0)
    n_matched = _sums(matched, rows.bounds)
    return n_equal.T, n_matched.T, (n_matched - _sums(goes_on, rows.bounds)).T


def _equal(rows: WordRows) -> I64:
    """First stage: row r, column i is the position in text r of the word that word i matches, or FREE."""
    _, occurrence = np.unique(rows.occurrence, return_inverse=True)
    table = np.full((len(rows.bounds) - 1, occurrence.max(initial=0) + 1), FREE)
    table[rows.text, occurrence] = rows.place
    return table[:, occurrence]


def _concerned(rows: WordRows, sought: Sought, offered: Offered) -> dict[int, Concerned]:
    """By text, the words to match, from the end, and the words that they can match, from the start."""
    texts: dict[int, Concerned] = {}
    for at, (text, word) in enumerate(zip(rows.text.tolist(), rows.word.tolist(), strict=True)):
        if word in sought or word in offered:
            seeking, wanted, offering = texts.setdefault(text, Concerned([], set(), {}))
            if word in sought:
                seeking.append((at, sought[word]))
                wanted.update(sought[word])
            if word in offered:
                offering.setdefault(offered[word], []).append(at)
    for text in texts.values():
        text.seeking.reverse()
    return texts


def _match(rows: WordRows, places: I64, taken: NDArray[np.bool_], *, concerned: dict[int, Concerned]) -> None:
    """A further stage, on the words that are not matched yet; `taken[h, j]` is true if text h has matched word j."""
    for hypothesis, (seeking, wanted, _) in concerned.items():
        for reference, (_, _, offering) in concerned.items():
            if hypothesis == reference or wanted.isdisjoint(offering):
                continue
            is_taken = taken[hypothesis]
            stacks = {key: [at for at in offering[key] if not is_taken[at]] for key in wanted & offering.keys()}
            for at, keys in seeking:
                found = [stack for key in keys if (stack := stacks.get(key))]
                if found and places[reference, at] == FREE:
                    partner = max(found, key=_top).pop()
                    places[reference, at] = rows.place[partner]
                    is_taken[partner] = True


def _top(stack: list[int]) -> int:
    return stack[-1]


def _sums(values: NDArray[np.bool_], bounds: I64) -> I64:
    """Sums over the columns of each text; 0 for a text without words."""
    sums = np.zeros((len(values), values.shape[1] + 1), dtype=np.int64)
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums[:, bounds[1:]] - sums[:, bounds[:-1]]


# Weight of precision against recall, and weight and power of the penalty for chunks. These are NLTK's values; the
# paper has other, tuned ones.
ALPHA = 0.9
GAMMA = 0.5
BETA = 3
# Words times texts aligned at once: limits the memory for items with many or long texts.
CELLS = 1 << 22
NO_WORDNET = (
    "meteor: no WordNet found, so words match exactly and by stem, not by synonym; "
    f"install Debian's wordnet-base or set {VARIABLES[0]} to a folder with WordNet's files"
)


@dataclass(frozen=True, eq=False)
class Meteor:
    """METEOR among the texts of a table."""

    table: TextTable
    lexicon: Lexicon
    rows: WordRows = field(repr=False)
    name: str = "meteor"
    top: float = 1.0

    @property
    def signature(self) -> str:
        """The name with the stemmer and the version of WordNet."""
        wordnet = self.lexicon.wordnet
        return f"meteor/porter/{f'wordnet-{wordnet.version}' if wordnet else 'no-wordnet'}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know before reading the numbers."""
        return () if self.lexicon.wordnet else (NO_WORDNET,)

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same tokens share a number."""
        return self.table.alike[numbers]

    def scores(self, numbers: I64, /) -> F64:
        """Scores among the texts: row i, column j is text i as hypothesis against text j as reference.

        >>> table = TextTable.of([["the cat sat on the mat", "on the mat sat a cat", "The cats sat on the mat"]])
        >>> meteor = make(Surroundings(table))
        >>> meteor.scores(np.arange(3)).round(4).tolist()
        [[1.0, 0.7433, 0.9977], [0.7433, 1.0, 0.7433], [0.9977, 0.7433, 1.0]]
        """
        scores = np.empty((len(numbers), len(numbers)))
        for part in self._parts(numbers):
            rows = self.rows.take(numbers[part])
            scores[np.ix_(part, part)] = meteor_scores(*align(rows, self.lexicon), np.diff(rows.bounds))
        return scores

    def _parts(self, numbers: I64) -> Iterator[I64]:
        """Indices of texts that are aligned together; each pair of texts is in at least one part."""
        indices = np.arange(len(numbers))
        longest = int((self.rows.bounds[numbers + 1] - self.rows.bounds[numbers]).max(initial=1))
        half = max(1, isqrt(CELLS // longest) // 2)
        if len(numbers) <= 2 * half:
            yield indices
            return
        for one, other in combinations(np.split(indices, indices[half::half]), 2):
            yield np.concatenate((one, other))


def meteor_scores(n_equal: I64, n_matched: I64, n_chunks: I64, lengths: I64) -> F64:
    """Scores from equal words, matched words, chunks and the lengths of the texts; rows are hypotheses.

    .. math:: \\frac{PR}{\\alpha P + (1 - \\alpha) R} (1 - \\gamma (c / m)^\\beta)

    with m matched words in c chunks, P and R their share of the hypothesis and of the reference; 1 for identical texts.
    """
    matched = np.maximum(n_matched, 1)
    precision = matched / np.maximum(lengths, 1)[:, None]
    recall = matched / np.maximum(lengths, 1)
    # Products, not a power: the last digit of a power differs between machines.
    penalty = GAMMA * np.prod([n_chunks / matched] * BETA, axis=0)
    scores = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall) * (1 - penalty)
    is_identical = (n_equal == lengths[:, None]) & (n_equal == lengths) & (n_chunks <= 1)
    return np.where(is_identical, 1.0, np.where(n_matched > 0, scores, 0.0))


def make(surroundings: Surroundings) -> Meteor:
    """METEOR for the texts of a run."""
    table = surroundings.table
    numbers: dict[str, int] = {}
    words = table.tokens.vocabulary.to_pylist()
    lower = np.array([numbers.setdefault(word.lower(), len(numbers)) for word in words], dtype=np.int64)
    rows = WordRows.of(lower[table.tokens.ids], np.asarray(table.tokens.offsets, dtype=np.int64))
    return Meteor(table, Lexicon.of(list(numbers), find_wordnet()), rows)
