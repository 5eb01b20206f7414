"""WordNet: synonyms and base forms of words, read from the installed database files."""

import mmap
import os
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np

from textassay.corpus.files.reading import open_regular, read_whole
from textassay.errors import InputError

# Endings and their replacements, by part of speech.
DETACHMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z")),
        *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "verb": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
        *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


def possible_forms(word: str, part: str, exceptions: Mapping[str, Sequence[str]]) -> list[str]:
    """The word and its possible base forms, whether or not they are in the index.

    >>> possible_forms("axes", "noun", {"axes": ["ax", "axis"]})
    ['axes', 'ax', 'axis']
    >>> possible_forms("tries", "verb", {})
    ['tries', 'trie', 'try', 'tri']
    """
    bases = exceptions.get(word)
    if bases is None:
        bases = [word[: -len(old)] + new for old, new in DETACHMENTS[part] if word.endswith(old)]
    return list(dict.fromkeys([word, *bases]))


PARTS = ("noun", "verb", "adj", "adv")
FILES = tuple(name for part in PARTS for name in (f"index.{part}", f"data.{part}", f"{part}.exc"))
# Entries of the four indexes. A folder with these numbers is that version; any other is identified by a digest.
ENTRIES = {"3.0": (117798, 11529, 21479, 4481)}
# The licence at the beginning of a file, which contains the version, is shorter than this.
HEAD_BYTES = 4096
DAMAGED = "the WordNet files are damaged or do not belong together"


@dataclass(frozen=True, eq=False)
class IndexFile:
    """An index: one line per word, sorted by bytes, with the positions of its synsets in the data file."""

    path: Path
    content: mmap.mmap = field(repr=False)
    starts: memoryview = field(repr=False)

    @classmethod
    def open(cls, path: Path) -> "IndexFile":
        """Map the file and find the starts of its lines; lines of the licence begin with a space."""
        content = map_file(path)
        letters = np.frombuffer(content, dtype=np.uint8)
        starts = np.concatenate(([0], np.flatnonzero(letters == ord("\n"))[:-1] + 1))
        return cls(path, content, starts[letters[starts] != ord(" ")].data)

    def __len__(self) -> int:
        return len(self.starts)

    def lemma(self, line: int, /) -> bytes:
        """The word of a line."""
        start = self.starts[line]
        return self.content[start : self.content.find(b" ", start)]

    def synsets(self, word: str, /) -> list[int]:
        """The positions of the synsets of a word in the data file; none if the word is not in the index."""
        key = word.encode("utf-8", "surrogatepass")
        line = bisect_left(range(len(self)), key, key=self.lemma)
        if line == len(self) or self.lemma(line) != key:
            return []
        start = self.starts[line]
        fields = self.content[start : self.content.find(b"\n", start)].split()
        try:
            count = int(fields[2])
            if count < 1 or len(fields) != 6 + int(fields[3]) + count:
                raise ValueError
            return [int(place) for place in fields[-count:]]
        except (ValueError, IndexError):
            raise InputError(f"{self.path}: no valid entry at byte {start}; {DAMAGED}") from None

    def check_order(self) -> None:
        """Raise an error for an index that is not sorted by bytes, because searching it would miss words."""
        lemmas = [self.lemma(line) for line in range(len(self))]
        if any(after <= before for before, after in pairwise(lemmas)):
            raise InputError(f"{self.path}: its words are not sorted by their bytes; {DAMAGED}")


@dataclass(frozen=True, eq=False)
class DataFile:
    """Synsets: one line each, which begins with its position in the file."""

    path: Path
    content: mmap.mmap = field(repr=False)

    def lemmas(self, place: int, /) -> list[str]:
        """The words of a synset in their original case, without marks such as `(p)` on adjectives."""
        line = self.content[place : self.content.find(b"\n", place)]
        try:
            number, _, _, count, rest = line.split(b" ", 4)
            words = rest.split(b" ", 2 * int(count, 16))[:-1:2]
            if number != b"%08d" % place or len(words) != int(count, 16):
                raise ValueError
            return [_without_mark(word.decode()) for word in words]
        except ValueError:
            raise InputError(f"{self.path}: no synset at byte {place}; {DAMAGED}") from None


def _without_mark(word: str) -> str:
    """The word without a mark in brackets at its end."""
    before, bracket, mark = word.rpartition("(")
    return before if bracket and mark.find(")") == len(mark) - 1 else word


def map_file(path: Path) -> mmap.mmap:
    """The bytes of a file, mapped into memory."""
    with open_regular(path) as file:
        try:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "the file is empty"
            raise InputError(f"{path}: cannot be read ({reason}); {DAMAGED}") from None
    if content[-1:] != b"\n":
        raise InputError(f"{path}: ends in the middle of a line; {DAMAGED}")
    return content


def read_exceptions(path: Path) -> dict[str, list[str]]:
    """Irregular forms and their base forms; the last line counts if a form has several."""
    try:
        lines = read_whole(path).decode().splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: cannot be read as text; {DAMAGED}") from None
    return {form: bases for form, *bases in (line.split() for line in lines if line.strip())}


def version_of(folder: Path, entries: tuple[int, ...]) -> str:
    """The version in the licence, with a digest unless the indexes have the known sizes of that version."""
    with open_regular(folder / "data.noun") as file:
        found = re.search(rb"WordNet (\d+(?:\.\d+)*) Copyright", file.read(HEAD_BYTES))
    version = found.group(1).decode() if found else "unknown"
    if ENTRIES.get(version) == entries:
        return version
    digest = blake2b(digest_size=4)
    for name in FILES:
        digest.update(read_whole(folder / name))
    return f"{version}-{digest.hexdigest()}"


# Variables with a user's folder: ours, then that of WordNet's programs.
VARIABLES = ("TEXTASSAY_WORDNET", "WNSEARCHDIR")
# Folders of packages: Debian and its derivatives, others with a data folder, WordNet's installer, Homebrew.
FOLDERS = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "/usr/share/wordnet/dict",
    "/usr/local/WordNet-3.0/dict",
    "/opt/homebrew/opt/wordnet/dict",
    "/usr/local/opt/wordnet/dict",
)


@dataclass(frozen=True, eq=False)
class Part:
    """The files of one part of speech."""

    name: str
    index: IndexFile
    data: DataFile
    exceptions: Mapping[str, list[str]] = field(repr=False)

    def lemmas(self, word: str, /) -> set[str]:
        """The words of all synsets of the word and of its possible base forms."""
        forms = possible_forms(word, self.name, self.exceptions)
        places = {place for form in forms for place in self.index.synsets(form)}
        return {lemma for place in places for lemma in self.data.lemmas(place)}


@dataclass(frozen=True, eq=False)
class WordNet:
    """WordNet in a folder; an unknown version ends with a digest."""

    folder: Path
    version: str
    parts: tuple[Part, ...] = field(repr=False)

    def synonyms(self, word: str, /) -> frozenset[str]:
        """The single words that share a synset with the word or its base forms, in the case of WordNet."""
        lower = word.lower()
        return frozenset(lemma for part in self.parts for lemma in part.lemmas(lower) if "_" not in lemma)


def open_wordnet(folder: Path) -> WordNet:
    """WordNet from the files of this folder."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        reason = f"no file {missing[0]}" if folder.is_dir() else "no such folder"
        raise InputError(f"{folder}: {reason}; wanted WordNet's files ({', '.join(FILES[:3])} and so on)")
    parts = tuple(
        Part(
            part,
            IndexFile.open(folder / f"index.{part}"),
            DataFile(folder / f"data.{part}", map_file(folder / f"data.{part}")),
            read_exceptions(folder / f"{part}.exc"),
        )
        for part in PARTS
    )
    version = version_of(folder, tuple(len(part.index) for part in parts))
    if version not in ENTRIES:
        for part in parts:
            part.index.check_order()
    return WordNet(folder, version, parts)


def find_wordnet() -> WordNet | None:
    """WordNet from the folder in an environment variable or of a package; None if it is not installed."""
    for variable in VARIABLES:
        named = os.environ.get(variable, "")
        if named:
            try:
                return open_wordnet(Path(named))
            except InputError as error:
                raise InputError(f"{variable}: {error}") from None
    for folder in map(Path, FOLDERS):
        if all((folder / name).is_file() for name in FILES):
            return open_wordnet(folder)
    return None
