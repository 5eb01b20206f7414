"""WordNet's synonyms of a word, looked up in the files where they are installed; nothing is loaded beforehand."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from textassay.corpus.errors import InputError
from textassay.views.text_distances.morphy import possible_forms
from textassay.views.text_distances.wordnet_files import (
    ENTRIES,
    FILES,
    PARTS,
    DataFile,
    IndexFile,
    map_file,
    read_exceptions,
    version_of,
)

# A user's folder: ours, then the one that WordNet's own programs obey.
VARIABLES = ("TEXTASSAY_WORDNET", "WNSEARCHDIR")
# Where packages put the files: Debian and its kin, others with a folder for the data, WordNet's own install, Homebrew.
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
        """The words of all synsets of the word and of what it may be a form of."""
        forms = possible_forms(word, self.name, self.exceptions)
        places = {place for form in forms for place in self.index.synsets(form)}
        return {lemma for place in places for lemma in self.data.lemmas(place)}


@dataclass(frozen=True, eq=False)
class WordNet:
    """WordNet in a folder; the version has a digest behind it unless it is a known one."""

    folder: Path
    version: str
    parts: tuple[Part, ...] = field(repr=False)

    def synonyms(self, word: str, /) -> frozenset[str]:
        """The single words that share a synset with the word or with what it is a form of, case as WordNet has it."""
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
    """WordNet where a variable says it is, else where packages put it; nothing where it is not installed."""
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
