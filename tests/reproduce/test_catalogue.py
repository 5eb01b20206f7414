"""What is committed is what the code writes; tests/cli/test_reproduce.py runs everything at the smallest scale."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from textassay.cli.reproduce import figure
from textassay.errors import InputError
from textassay.metrics.registry import citation
from textassay.report import markdown
from textassay.reproduce.catalogue import NOT_REBUILT, PAPERS, REPRODUCTIONS, find_files, reproduce
from textassay.reproduce.document import page as page_of
from textassay.reproduce.result import Reproduction

COMMITTED = ROOT / "docs" / "reproductions"


def committed(name: str) -> Reproduction:
    return Reproduction.from_json((COMMITTED / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_a_laptop_result_is_committed_with_its_figure(name: str) -> None:
    found = committed(name)
    assert found.options["scale"] == "laptop"
    assert found.files == REPRODUCTIONS[name].files
    if found.has_figure:
        assert (COMMITTED / f"{name}.svg").read_text(encoding="utf-8") == figure(found)
    # One that `agree` reads has a result for every generator and metric.
    assert (COMMITTED / f"{name}.json").stat().st_size < (200_000 if "candidates" in found.to_json() else 60_000)


@pytest.mark.parametrize(("prefix", "paper"), PAPERS.items())
def test_the_page_of_a_paper_is_written_from_its_results(prefix: str, paper: str) -> None:
    made = [committed(name) for name, entry in REPRODUCTIONS.items() if entry.paper == paper]
    if not made:
        pytest.skip("nothing of this paper is reproduced")
    missing = [(each.what, each.reason) for each in NOT_REBUILT if each.paper == paper]
    page = (COMMITTED / f"{prefix}.md").read_text(encoding="utf-8")
    assert page == markdown.text(page_of(paper, made, missing))
    assert page.partition("\n")[0].removeprefix("# Reproduced: ") in citation(paper)
    assert not page.startswith("# Reproduced: Chan"), "the title of the paper, not its authors"
    assert f"reproductions/{prefix}.md" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f"\n## {each.name}\n" in page and each.conclusion for each in made)


def test_entries_name_their_paper_and_sizes() -> None:
    for name, entry in REPRODUCTIONS.items():
        assert PAPERS[name.partition("-")[0]] == entry.paper
        assert citation(entry.paper) != entry.paper
        assert 0 < entry.sizes[0] <= entry.sizes[1] <= entry.sizes[2]
        assert entry.hardware
    assert all(each.paper in PAPERS.values() for each in NOT_REBUILT)


def test_missing_files_of_several_are_named_together(tmp_path: Path) -> None:
    (tmp_path / "huse").mkdir()
    (tmp_path / "huse" / "summarization_ratings.csv").touch()
    with pytest.raises(InputError) as refused:
        find_files(list(REPRODUCTIONS.values()), str(tmp_path))
    assert "captions/coco_val_sample.json" in str(refused.value)
    assert "summarization_ratings.csv" not in str(refused.value)
    assert find_files([REPRODUCTIONS["dd-published"]], None) == {}


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(InputError, match=re.escape("scale='huge'; wanted smoke, laptop or paper")):
        reproduce("dd-published", scale="huge")


def test_a_file_that_is_no_reproduction_is_refused() -> None:
    for text in ("{}", "[]", "no JSON"):
        with pytest.raises(InputError, match="no reproduction in JSON"):
            Reproduction.from_json(text)
