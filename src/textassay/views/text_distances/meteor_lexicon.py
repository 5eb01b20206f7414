"""Which words METEOR takes for each other: stems and synonyms of the words of a run, each looked up once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from textassay.views.text_distances.porter import stem
from textassay.views.text_distances.wordnet import WordNet

# The stems that a word of a hypothesis can match, and the one that a word of a reference has.
Sought = dict[int, tuple[int, ...]]
Offered = dict[int, int]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words of a run by the numbers of their stems, and the synonyms looked up so far.

    As in NLTK, the synonyms are those of stems, among stems: `getting` matches `going` since `get` and `go` are
    synonyms, while `baby` matches no `infant`, since WordNet does not know its stem `babi`.
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
        """Those of the words that have the stem of another one."""
        first: dict[int, int] = {}
        shared = {self.stem_of[word] for word in words if first.setdefault(self.stem_of[word], word) != word}
        offered = {word: of for word in words if (of := self.stem_of[word]) in shared}
        return {word: (of,) for word, of in offered.items()}, offered

    def shared_synonyms(self, words: set[int]) -> tuple[Sought, Offered]:
        """Those of the words whose stem has a synonym among the other stems, and those whose stem is one."""
        among = {self.stem_of[word] for word in words}
        sought = {of: tuple(found) for of in among if (found := (self.synonyms(of) & among) - {of})}
        offered = {found for synonyms in sought.values() for found in synonyms}
        return (
            {word: sought[of] for word in words if (of := self.stem_of[word]) in sought},
            {word: of for word in words if (of := self.stem_of[word]) in offered},
        )
