"""Records survive an interruption at any moment."""

from pathlib import Path

import pytest

from textassay.errors import InputError
from textassay.studies.stress.records import Records

IDENTITY = {"seed": 0, "metrics": ["cnd-2"]}


def test_a_file_gives_back_what_was_put_in(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    first = Records(IDENTITY, path)
    first.put(("run", 20, 0, "cold", 0.3), {"values": {"cnd-2": 0.1 + 0.2}})
    again = Records(IDENTITY, path)
    assert len(again) == 1
    assert again["run", 20, 0, "cold", 0.3] == first["run", 20, 0, "cold", 0.3]


@pytest.mark.parametrize("kept", range(0, 120, 7))
def test_a_file_cut_anywhere_is_continued(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "records.jsonl"
    written = Records(IDENTITY, path)
    for number in range(3):
        written.put(("level", 20, number), {"p": 0.5})
    content = path.read_bytes()
    path.write_bytes(content[:kept])
    again = Records(IDENTITY, path)
    again.put(("level", 20, 9), {"p": 0.25})
    read = Records(IDENTITY, path)
    assert len(read) == len(again)
    assert read["level", 20, 9]["p"] == 0.25


def test_records_of_another_study_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    Records(IDENTITY, path)
    with pytest.raises(InputError, match="records of another study \\(seed is 0, here 1\\)"):
        Records({**IDENTITY, "seed": 1}, path)


@pytest.mark.parametrize(
    "content",
    [
        "a text\nand another\n",
        "[1, 2]\n",
        '{"stress": 5}\n',
        "[" * 100_000 + "\n",
        '{"stress": {}}\nnot json\n',
        "text",
    ],
)
def test_other_files_are_refused_and_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "texts.txt"
    path.write_text(content)
    with pytest.raises(InputError, match="not a file of records"):
        Records(IDENTITY, path)
    assert path.read_text() == content
