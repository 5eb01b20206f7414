"""The wording of the rating page: that of Figure 6 of Hashimoto et al. 2019, or the user's own from a TOML file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from textassay.corpus.files import failures_named, read_whole
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.values import kind_of
from textassay.errors import InputError
from textassay.survey.model import TYPICALITY, Choice

_TEXTS = ("title", "introduction", "context_intro", "question", "note", "thanks")
_CHOICE = ("value", "label", "help")
# Wider than any scale that people can use.
_LARGEST = 1000


@dataclass(frozen=True)
class Wording:
    """The texts of the rating page, and its scale."""

    title: str
    context_intro: str
    question: str
    note: str
    choices: tuple[Choice, ...] = TYPICALITY
    introduction: str = ""
    thanks: str = ""


def page_wording(
    template: str | None = None,
    *,
    title: str | None = None,
    text_name: str = "text",
    context_name: str = "context",
    with_context: bool = True,
) -> Wording:
    """The default wording, changed by a template and a title if they are given."""
    wording = default_wording(text_name=text_name, context_name=context_name, with_context=with_context)
    if template is not None:
        wording = apply_template(wording, template)
    if title is None:
        return wording
    if not title.strip():
        raise InputError("--title is blank; wanted the heading of the page")
    return replace(wording, title=" ".join(title.split()))


def default_wording(*, text_name: str = "text", context_name: str = "context", with_context: bool = True) -> Wording:
    """The question of Hashimoto et al. 2019: how typical a text is, given its context if there is one.

    >>> default_wording(text_name="title", context_name="news article").question
    'How typical is this exact title?'
    >>> default_wording(with_context=False).note
    'Please also take into account whether the text is grammatical and factually correct.'
    """
    text, context = _name(text_name, "--text-name"), _name(context_name, "--context-name")
    merits = "grammatical, topical and factually correct" if with_context else "grammatical and factually correct"
    return Wording(
        title=f"How typical is each {text}?",
        context_intro=f"Given this {context}:" if with_context else "",
        question=f"How typical is this exact {text}?",
        note=f"Please also take into account whether the {text} is {merits}.",
    )


def apply_template(wording: Wording, path: str) -> Wording:
    """The wording with the texts of a TOML file in place of the default ones.

    The file may have `title`, `introduction` (before the first text), `context_intro`, `question`, `note` and `thanks`
    (after the last text), and `[[choices]]` with `value`, `label` and optionally `help`, in the order in which they are
    shown.
    """
    where = shortened(path)
    with failures_named(where):
        data = read_whole(path)
        try:
            written = tomllib.loads(data.decode())
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise InputError(f"{where}:{line}: byte 0x{data[error.start]:02x} is not valid utf-8") from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{where}: not valid TOML: {shortened(str(error))}") from None
    _known(written, (*_TEXTS, "choices"), where)
    words = {name: _words(written[name], f"{where}: '{name}'") for name in _TEXTS if name in written}
    for name in ("title", "question"):
        if name in words and not words[name].strip():
            raise InputError(f"{where}: '{name}' is blank; wanted a text for raters")
    choices = _choices(written["choices"], where) if "choices" in written else wording.choices
    return replace(wording, **words, choices=choices)


def _choices(value: Any, where: str) -> tuple[Choice, ...]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(f"{where}: 'choices' is {_kind(value)}; wanted [[choices]] with value and label")
    choices = tuple(_choice(one, f"{where}: choice {number}") for number, one in enumerate(value, 1))
    if len(choices) < 2:
        raise InputError(f"{where}: {many(len(choices), 'choice')}; wanted two or more")
    for what in ("value", "label"):
        given = [str(getattr(choice, what)) for choice in choices]
        twice = [one for one in given if given.count(one) > 1]
        if twice:
            raise InputError(f"{where}: {len(twice)} choices have the {what} {quoted(twice[:1])}; wanted only one")
    return choices


def _choice(written: Mapping[str, Any], where: str) -> Choice:
    _known(written, _CHOICE, where)
    for name in ("value", "label"):
        if name not in written:
            raise InputError(f"{where}: no {name}; wanted a value and a label")
    value = written["value"]
    if type(value) is not int or abs(value) > _LARGEST:
        raise InputError(f"{where}: the value is {_kind(value)}; wanted a whole number from -{_LARGEST} to {_LARGEST}")
    label = _words(written["label"], f"{where}: the label")
    if not label.strip():
        raise InputError(f"{where}: the label is blank; wanted a text for raters")
    return Choice(value, label, _words(written.get("help", ""), f"{where}: the help"))


def _known(written: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    unknown = [name for name in written if name not in names]
    if unknown:
        raise InputError(f"{where}: unknown {quoted(unknown)}; wanted {quoted(list(names))}")


def _words(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} is {_kind(value)}; wanted a string")
    return value.strip("\n")


def _kind(value: Any) -> str:
    return kind_of(value) if isinstance(value, dict | list | str | bool | int | float) else type(value).__name__


def _name(name: str, option: str) -> str:
    if not name.strip():
        raise InputError(f"{option} is blank; wanted a word for raters, such as title")
    return " ".join(name.split())
