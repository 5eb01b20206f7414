"""Saved results: the study of a file is found, and what is not a file of results is one line."""

import json
from pathlib import Path

import pytest

from tests.studies.test_altered_files import KINDS, found, plain
from textassay import InputError, read_results


@pytest.mark.parametrize("kind", KINDS)
def test_the_study_of_a_file_is_found(kind: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(plain(kind), encoding="utf-8")
    assert read_results(tmp_path / "results.json") == found(kind)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("[1]", "not results of textassay"),
        ('{"results": {"hellaswag": {"acc": 0.4}}, "versions": {}}', "not results of textassay"),
        ('{"textassay": "9.0", "details": {}, "shapes": []}', r"results of no study .* of textassay 9\.0; this is"),
        ('{"textassay": "0.1.0", "details": {}, "results": []}', r"KeyError.* of textassay 0\.1\.0; this is"),
        ('{"textassay": "0.1.0", "results": []}', "not results of textassay"),
    ],
)
def test_another_file_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"other\.json: .*{message}") as caught:
        read_results(path)
    assert "\n" not in str(caught.value)


def test_an_altered_file_of_this_version_is_one_line(tmp_path: Path) -> None:
    altered = json.loads(plain("huse"))
    del altered["details"]["rated"]
    (tmp_path / "huse.json").write_text(json.dumps(altered))
    with pytest.raises(InputError, match=r"huse\.json: not the JSON of textassay huse"):
        read_results(tmp_path / "huse.json")
