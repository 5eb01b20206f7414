"""NLTK's own reader on the installed WordNet, as an oracle."""

import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nltk.data
import pytest
from nltk.corpus.reader import WordNetCorpusReader

from textassay.distances.wordnet import WordNet, find_wordnet, open_wordnet

# Debian omits a table that NLTK reads; the names in it do not affect synonyms.
N_LEXICOGRAPHER_FILES = 45


class EnglishReader(WordNetCorpusReader):  # type: ignore[misc]
    """NLTK's reader without the map between versions, which needs files for other languages."""

    def map_wn(self, version: str = "") -> None:
        return None


@dataclass(frozen=True)
class Both:
    """The same files, read by this package and by NLTK."""

    ours: WordNet
    theirs: Any

    def nltk_synonyms(self, word: str) -> set[str]:
        return {name for synset in self.theirs.synsets(word) for name in synset.lemma_names() if "_" not in name}


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """WordNet for this package and for NLTK, which gets copies because it follows no links out of its folders."""
    installed = find_wordnet()
    if installed is None:
        pytest.skip("no WordNet files (Debian's wordnet-base, or set TEXTASSAY_WORDNET)")
    folder = tmp_path_factory.mktemp("wordnet")
    for path in (path for path in Path(installed.folder).iterdir() if path.is_file()):
        shutil.copyfile(path, folder / path.name)
    numbers = range(N_LEXICOGRAPHER_FILES)
    (folder / "lexnames").write_text("".join(f"{number:02d}\tfile.{number}\t1\n" for number in numbers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [*nltk.data.path, str(folder)])
        with warnings.catch_warnings():
            # It warns that there are no other languages.
            warnings.simplefilter("ignore")
            theirs = EnglishReader(str(folder), None)
        yield Both(open_wordnet(folder), theirs)
