"""One of a thing is never reported as several, in messages that are not tested elsewhere."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from textassay import compare, huse
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.errors import InputError
from textassay.inference.format_check import check_format
from textassay.survey.create.wording import page_wording
from textassay.survey.model import Study, SurveyItem
from textassay.survey.store.schema import check_items


def test_choices_and_items_of_a_survey(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('[[choices]]\nvalue = 1\nlabel = "bad"\n')
    with pytest.raises(InputError, match=r": 1 choice; wanted two or more"):
        page_wording(str(tmp_path / "t.toml"), title=None, text_name="text", context_name="context", with_context=False)
    with pytest.raises(InputError, match=r"^1 item, but none to rate"):
        check_items(Study("T", "", "Q", ""), [SurveyItem("a", "check", "one", expected=1)])


def test_one_item_that_is_left_out() -> None:
    rated = [
        {"item": str(n), "text": f"t {n}", "source": source, "rater": "r", "rating": 1 + n % 3, "log_prob": -1.0 - n}
        for n, source in enumerate(["human"] * 21 + ["model"] * 20)
    ]
    found = huse(rated, n_resamples=0)
    assert any("21 human items and 20 items of the other source: 1 was left out" in note for note in found.notes)


def test_a_baseline_of_one_text_each() -> None:
    found = compare(["a b", "c d", "e f"], ["a b", "c x", "e f"], metrics="distinct", n_resamples=99)
    assert any("with 1 text each" in note for note in found.notes)


def test_many_blank_texts_are_counted_by_the_format_check() -> None:
    """The note has a comma from a thousand on."""
    blank = Sample.of(["a cat sat"] * 3000 + [" "] * 1500, name="made")
    assert blank.notes == ("1,500 blank texts left out",)
    full = Sample.of(["a cat sat"] * 3000, name="real")
    kinds = {finding.kind: finding for finding in check_format(blank, full, tokenizer=get_tokenizer("words"))}
    assert kinds["blank"].candidate_share == pytest.approx(1 / 3)


def test_plurals_are_made_by_the_one_helper() -> None:
    """An `s` that is put on by hand is forgotten in the next message."""
    by_hand = re.compile(r"""\{['"]s?['"] if [^}]*(?:> 1|== 1|!= 1) else ['"]s?['"]\}""")
    allowed = {"corpus/records.py", "huse/study.py", "conditional/tables.py"}
    found = {
        "/".join(path.parts[-2:])
        for path in (ROOT / "src").rglob("*.py")
        if by_hand.search(path.read_text(encoding="utf-8"))
    }
    assert found <= allowed
