"""The tables of messages: complete, equal in shape, and refused in one line if they are not."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from textassay.cli.main import run
from textassay.errors import InputError
from textassay.survey import templates
from textassay.survey.create.wording import page_wording
from textassay.survey.messages.tables import SHIPPED, checked, messages_of, read_messages, shipped
from textassay.survey.model import TYPICALITY, Study

ENGLISH = shipped("en").texts
TEMPLATES = Path(templates.__file__).parent


_NO_TEXT = r"\{#.*?#\}|<!--.*?-->|<style>.*?</style>|<script>.*?</script>|\{% block kind %\}.*?\{% endblock %\}"
_FILLED_IN = r"\{\{.*?\}\}|\{%.*?%\}|\$\{.*?\}"


def written(path: Path, texts: dict[str, str]) -> str:
    """A table as TOML with dotted keys."""
    lines = (f"{key} = {json.dumps(text, ensure_ascii=False)}\n" for key, text in texts.items())
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("language", SHIPPED)
def test_a_printed_table_can_be_given_back(language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["survey", "messages", language]) == 0
    (tmp_path / "own.toml").write_text(capsys.readouterr().out, encoding="utf-8")
    assert read_messages(str(tmp_path / "own.toml")) == dict(shipped(language).texts)
    assert run(["survey", "messages", "xx"]) == 2
    assert capsys.readouterr().err.endswith("language 'xx'; wanted one of 'en', 'de'\n")


@pytest.mark.parametrize("language", SHIPPED)
def test_a_shipped_table_is_complete_and_its_choices_are_those_of_the_scale(language: str) -> None:
    texts = shipped(language).texts
    assert checked(texts, language, whole=True) == dict(texts)
    assert texts["lang"] == language
    wording = page_wording(language=language)
    assert [choice.value for choice in wording.choices] == [choice.value for choice in TYPICALITY]
    if language == "en":
        assert wording.choices == TYPICALITY
    else:
        same = [key for key in ENGLISH if texts[key] == ENGLISH[key]]
        assert same == ["direction"], "a text that is not translated"


def test_templates_have_no_words_of_their_own() -> None:
    """Every word that a rater reads comes from the table; the admin page is in English."""
    for path in sorted(TEMPLATES.glob("*.html.j2")):
        if path.name.startswith("admin"):
            continue
        source = re.sub(_NO_TEXT, "", path.read_text("utf-8"), flags=re.DOTALL)
        bare = re.sub(r"<[^>]*>", " ", re.sub(_FILLED_IN, "", source, flags=re.DOTALL))
        assert re.findall(r"[A-Za-z]{2,}", bare) == [], path.name
        keys = set(re.findall(r'say\("([a-z_.]+)"[,)]', source))
        assert keys <= ENGLISH.keys()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"item.save": None}, r"1 missing message: 'item\.save'; wanted all \d+ messages of the English table$"),
        ({"item.saved": "x"}, r"unknown 'item\.saved'; wanted keys of the English table of messages$"),
        ({"item.save": " "}, r"'item\.save' has 0 characters; wanted a text of 1 to 2,000$"),
        ({"item.save": "x" * 2001}, r"'item\.save' has 2,001 characters"),
        ({"item.heading": "Texte {number}"}, r"'item\.heading' has '\{number\}'; wanted '\{number\}', '\{total\}'$"),
        ({"item.save": "{__class__}{total}"}, r"'item\.save' has '\{total\}'; wanted no names in braces$"),
        ({"checks.text_1": "Lisez"}, r"'checks\.text_1' has no names in braces; wanted '\{label\}'$"),
        ({"lang": 'fr" onload="x'}, r"'lang' is 'fr\" onload=\"x'; wanted a language tag such as de or pt-BR$"),
        ({"direction": "up"}, r"'direction' is 'up'; wanted ltr or rtl$"),
    ],
)
def test_a_table_that_does_not_fit_is_one_clear_line(tmp_path: Path, change: dict[str, str | None], line: str) -> None:
    texts = {key: text for key, text in {**ENGLISH, **change}.items() if text is not None}
    with pytest.raises(InputError, match=line) as caught:
        read_messages(written(tmp_path / "fr.toml", texts))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}")


def test_a_value_that_is_no_text_is_refused(tmp_path: Path) -> None:
    table = Path(written(tmp_path / "fr.toml", {key: text for key, text in ENGLISH.items() if key != "item.save"}))
    table.write_text(f"{table.read_text('utf-8')}item.save = 7\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'item\.save' is no string; wanted a text such as 'Save answer'$"):
        read_messages(str(table))


def test_an_own_table_and_single_messages_reach_the_study(tmp_path: Path) -> None:
    own = {**ENGLISH, "lang": "fr", "item.save": "Enregistrer", "wording.question": "Typique ?"}
    wording = page_wording(language=written(tmp_path / "fr.toml", own))
    study = Study(**vars(wording))
    assert (wording.language, wording.question, messages_of(study)("item.save")) == ("fr", "Typique ?", "Enregistrer")
    # A later version may have more messages than the table had when the study was made.
    older = replace(study, messages={key: text for key, text in own.items() if key != "item.undo"})
    assert messages_of(older)("item.undo") == "Undo last answer"

    template = tmp_path / "words.toml"
    template.write_text('language = "de"\n[messages]\nitem.save = "Weiter"\n', encoding="utf-8")
    mixed = Study(**vars(page_wording(str(template))))
    assert [messages_of(mixed)(key) for key in ("item.save", "lang")] == ["Weiter", "de"]
    assert mixed.question == "Wie typisch ist genau dieser Text?"
    template.write_text('[messages]\nitem.say = "Weiter"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"words\.toml: messages: unknown 'item\.say'"):
        page_wording(str(template))
    template.write_text('language = "xx"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"'language' is 'xx'; wanted one of 'en', 'de'$"):
        page_wording(str(template))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://", "https://a b", "https://a/é", "ftp://x", "x" * 600])
def test_a_completion_link_is_a_web_address(url: str) -> None:
    with pytest.raises(InputError, match="is not a web address; wanted one such as"):
        page_wording(completion_url=url)
