"""WordNet's synonyms against NLTK's reader, in small hand-written folders, and in damaged ones."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.distances.conftest import Both
from tests.distances.small_wordnet import write_wordnet
from textassay.distances import wordnet
from textassay.distances.wordnet import DETACHMENTS, find_wordnet, open_wordnet
from textassay.errors import InputError

HOSTILE = [
    *["", " ", "\x00", "car\x00", "\x00car", "\n", "car\n", "car bus", " 1", "a" * 100_000, "s", "es", "ing", "men"],
    *[
        "../../etc/passwd",
        "/etc/passwd",
        "index.noun",
        "%s",
        "\\",
        "日本語",
        "\ud800",
        "é",
        "İ",
        "ß",
        "_",
        "(p)",
        "~",
        "\x7f",
    ],
    *["'hood", "'tween", ".22", "zymurgy", "zyrian", "zzz", "0", "!"],
]
ENDINGS = sorted({ending for rules in DETACHMENTS.values() for ending, _ in rules})


def test_synonyms_of_real_words_as_nltk(both: Both, data: Path) -> None:
    words = sorted(set((data / "coco" / "test.txt").read_text(encoding="utf-8").lower().split()))[::3]
    assert len(words) > 1000
    assert {word: both.ours.synonyms(word) for word in words} == {word: both.nltk_synonyms(word) for word in words}


def test_synonyms_of_inflected_entries_as_nltk(both: Both) -> None:
    rng = random.Random(0)
    lemmas = [part.index.lemma(rng.randrange(len(part.index))).decode() for part in both.ours.parts for _ in range(100)]
    irregular = [rng.choice(list(part.exceptions)) for part in both.ours.parts for _ in range(50)]
    firsts_and_lasts = [part.index.lemma(line).decode() for part in both.ours.parts for line in (0, -1)]
    words = [*lemmas, *(lemma + rng.choice(ENDINGS) for lemma in lemmas), *irregular, *firsts_and_lasts]
    assert {word: both.ours.synonyms(word) for word in words} == {word: both.nltk_synonyms(word) for word in words}


@settings(max_examples=300, deadline=None)
@given(word=st.text(max_size=6) | st.text("abcdegilmnorstvxyz_'-.", max_size=5))
def test_synonyms_of_made_words_as_nltk(both: Both, word: str) -> None:
    assert both.ours.synonyms(word) == both.nltk_synonyms(word)


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_as_nltk(both: Both, word: str) -> None:
    assert both.ours.synonyms(word) == both.nltk_synonyms(word)


def test_the_installed_version_is_known(both: Both) -> None:
    assert both.ours.version == "3.0"


@pytest.mark.parametrize(
    ("word", "synonyms"),
    [
        ("car", {"car", "auto", "Auto-mobile", "coach"}),
        ("CARS", {"car", "auto", "Auto-mobile", "coach"}),
        ("auto-mobile", {"car", "auto", "Auto-mobile"}),
        ("motor_car", {"car", "auto", "Auto-mobile"}),
        # The last of two lines of exceptions counts; both base forms are looked up, and no ending is removed.
        ("axes", {"ax", "axe", "axis", "Axis"}),
        ("went", {"run", "go", "leave"}),
        ("goes", {"run", "go", "leave"}),
        ("busmen", set()),
        ("biggest", set()),
        ("larger", {"big", "large"}),
        ("plenty", {"galore", "plenty"}),
        ("even)", {"odd(", "even)"}),
        ("better", {"well", "good"}),
        ("wells", set()),
        *[(word, set()) for word in HOSTILE],
    ],
)
def test_synonyms_in_a_small_folder(tmp_path: Path, word: str, synonyms: set[str]) -> None:
    assert open_wordnet(write_wordnet(tmp_path)).synonyms(word) == synonyms


def test_the_version_of_unknown_files_has_a_digest(tmp_path: Path) -> None:
    versions = [
        open_wordnet(write_wordnet(tmp_path / str(number), version=version)).version
        for number, version in enumerate(["3.1", "3.1", "3.0", None])
    ]
    assert versions[0] == versions[1]
    assert [version.partition("-")[0] for version in versions] == ["3.1", "3.1", "3.0", "unknown"]
    assert all(len(version.partition("-")[2]) == 8 for version in versions)
    with (tmp_path / "1" / "noun.exc").open("a") as file:
        file.write("oxen ox\n")
    assert open_wordnet(tmp_path / "1").version != versions[1]


def test_folders_that_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, third = (write_wordnet(tmp_path / name) for name in ("one", "other", "third"))
    monkeypatch.setattr(wordnet, "FOLDERS", (str(tmp_path / "nowhere"), str(tmp_path), str(third)))
    monkeypatch.setenv("TEXTASSAY_WORDNET", str(one))
    monkeypatch.setenv("WNSEARCHDIR", str(other))
    assert found_in() == one
    monkeypatch.setenv("TEXTASSAY_WORDNET", "")
    assert found_in() == other
    monkeypatch.delenv("WNSEARCHDIR")
    assert found_in() == third
    monkeypatch.setattr(wordnet, "FOLDERS", (str(tmp_path),))
    assert find_wordnet() is None


def found_in() -> Path:
    found = find_wordnet()
    assert found is not None
    return found.folder


def without_last(path: Path, n: int) -> None:
    path.write_bytes(path.read_bytes()[:-n])


def reversed_lines(path: Path) -> None:
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))


def replaced(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: (folder / "adv.exc").unlink(), r"no file adv\.exc"),
    "empty": (
        lambda folder: (folder / "data.verb").write_bytes(b""),
        r"data\.verb: cannot be read \(the file is empty\)",
    ),
    "cut": (lambda folder: without_last(folder / "index.noun", 9), r"index\.noun: ends in the middle of a line"),
    "cut data": (lambda folder: without_last(folder / "data.noun", 9), r"data\.noun: ends in the middle of a line"),
    "unsorted": (
        lambda folder: reversed_lines(folder / "index.noun"),
        r"index\.noun: its words are not sorted by their bytes",
    ),
    "binary": (lambda folder: (folder / "noun.exc").write_bytes(b"\xff\xfe\x00"), r"noun\.exc: cannot be read as text"),
    "shifted": (
        lambda folder: replaced(folder / "data.noun", b"Some words", b"Words"),
        r"data\.noun: no synset at byte",
    ),
    "shorter": (lambda folder: (folder / "data.noun").write_bytes(b"x\n"), r"data\.noun: no synset at byte"),
    "no numbers": (
        lambda folder: replaced(folder / "index.noun", b"car n 2", b"car n x"),
        r"index\.noun: no valid entry at byte",
    ),
    "too few": (
        lambda folder: replaced(folder / "index.noun", b"car n 2", b"car n 9"),
        r"index\.noun: no valid entry at byte",
    ),
    "count": (
        lambda folder: replaced(folder / "data.noun", b"n 04 car", b"n ff car"),
        r"data\.noun: no synset at byte",
    ),
    "letters": (lambda folder: replaced(folder / "data.noun", b"auto", b"a\xffto"), r"data\.noun: no synset at byte"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damaged_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    damage, message = DAMAGES[kind]
    damage(write_wordnet(tmp_path))
    monkeypatch.setenv("TEXTASSAY_WORDNET", str(tmp_path))
    with pytest.raises(InputError, match=message) as caught:
        find_wordnet().synonyms("car")  # type: ignore[union-attr]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("variable", ["TEXTASSAY_WORDNET", "WNSEARCHDIR"])
def test_a_named_folder_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.delenv("TEXTASSAY_WORDNET", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=rf"^{variable}: .*nowhere: no such folder; wanted WordNet's files"):
        find_wordnet()
