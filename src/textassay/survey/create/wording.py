"""The wording of the rating page: that of Figure 6 of Hashimoto et al. 2019, or the user's own from a TOML file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.values import kind_of, read_toml
from textassay.errors import InputError
from textassay.survey.messages.tables import SHIPPED, Messages, checked, read_messages, shipped
from textassay.survey.model import TYPICALITY, Choice

_TEXTS = ("title", "introduction", "consent", "context_intro", "question", "note", "thanks")
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
    consent: str = ""
    thanks: str = ""
    completion_url: str = ""
    language: str = "en"
    messages: Mapping[str, str] = field(default_factory=dict)


def page_wording(
    template: str | None = None,
    *,
    title: str | None = None,
    text_name: str | None = None,
    context_name: str | None = None,
    with_context: bool = True,
    language: str | None = None,
    completion_url: str | None = None,
) -> Wording:
    """The default wording, changed by a template and the other options if they are given.

    `language` is a language that is shipped, or the TOML file of a table of messages.
    """
    written = {} if template is None else read_toml(template)
    where = shortened(template or "")
    named = _language(written, where) if language is None else language
    own = {} if named in SHIPPED else read_messages(named)
    if "messages" in written:
        own |= checked(_table(written["messages"], where), f"{where}: messages", whole=False)
    base = shipped(named if named in SHIPPED else "en")
    wording = default_wording(
        text_name=text_name,
        context_name=context_name,
        with_context=with_context,
        messages=Messages({**base.texts, **own}),
    )
    wording = replace(wording, language=named if named in SHIPPED else own["lang"], messages=own)
    if template is not None:
        wording = apply_template(wording, written, where)
    if completion_url is not None:
        wording = replace(wording, completion_url=web_address(completion_url, "--completion-url"))
    if title is None:
        return wording
    if not title.strip():
        raise InputError("--title is blank; wanted the heading of the page")
    return replace(wording, title=" ".join(title.split()))


def _language(written: Mapping[str, Any], where: str) -> str:
    """The shipped language that a template names; English if it names none."""
    named = written.get("language", "en")
    if named not in SHIPPED:
        raise InputError(f"{where}: 'language' is '{shortened(str(named), 60)}'; wanted one of {quoted(list(SHIPPED))}")
    return str(named)


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: 'messages' is {_kind(value)}; wanted a table [messages] of texts of the page")
    return value


# The address is shown as a link, so nothing but a web address may be in it.
_WEB = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(/[!-~]*)?")
_LONGEST_ADDRESS = 500


def web_address(url: str, where: str) -> str:
    """The address if it is one of the web, in ASCII and of bounded length; anything else is an InputError."""
    if not _WEB.fullmatch(url) or len(url) > _LONGEST_ADDRESS:
        example = "https://app.prolific.com/submissions/complete?cc=C1A2B3"
        raise InputError(f"{where} '{shortened(url, 80)}' is not a web address; wanted one such as {example}")
    return url


def default_wording(
    *,
    text_name: str | None = None,
    context_name: str | None = None,
    with_context: bool = True,
    messages: Messages | None = None,
) -> Wording:
    """The question of Hashimoto et al. 2019: how typical a text is, given its context if there is one.

    >>> default_wording(text_name="title", context_name="news article").question
    'How typical is this exact title?'
    >>> default_wording(with_context=False).note
    'Please also take into account whether the text is grammatical and factually correct.'
    """
    say = messages or shipped("en")
    names = {
        "text": say("wording.text") if text_name is None else _name(text_name, "--text-name"),
        "context": say("wording.context") if context_name is None else _name(context_name, "--context-name"),
    }
    return Wording(
        title=say("wording.title", **names),
        context_intro=say("wording.context_intro", **names) if with_context else "",
        question=say("wording.question", **names),
        note=say("wording.note" if with_context else "wording.note_without_context", **names),
        choices=tuple(
            Choice(choice.value, say(f"choices.label_{choice.value}"), say(f"choices.help_{choice.value}"))
            for choice in TYPICALITY
        ),
    )


def with_unknown(wording: Wording, token: str, *, text_name: str | None = None) -> Wording:
    """The wording with the instruction of Hashimoto et al. 2019 on tokens for unknown words, unless it names the token.

    >>> with_unknown(default_wording(text_name="title"), "<unk>", text_name="title").note.partition(". ")[2]
    'Where a title has <unk>, read it as a rare word that suits the place, and do not rate the title lower for it.'
    """
    if token in f"{wording.introduction} {wording.note}":
        return wording
    say = Messages({**shipped(wording.language if wording.language in SHIPPED else "en").texts, **wording.messages})
    text = say("wording.text") if text_name is None else _name(text_name, "--text-name")
    return replace(wording, note=f"{wording.note} {say('wording.unknown', text=text, token=token)}".strip())


def apply_template(wording: Wording, written: Mapping[str, Any], where: str) -> Wording:
    """The wording with the texts of a template in place of the default ones.

    It may have `title`, `introduction` (before the first text), `consent` (what raters must agree to), `context_intro`,
    `question`, `note`, `thanks` (after the last text) and `completion_url`, `language` and `[messages]`, and
    `[[choices]]` with `value`, `label` and optionally `help`, in the order in which they are shown.
    """
    _known(written, (*_TEXTS, "completion_url", "language", "messages", "choices"), where)
    words = {name: _words(written[name], f"{where}: '{name}'") for name in _TEXTS if name in written}
    for name in ("title", "question"):
        if name in words and not words[name].strip():
            raise InputError(f"{where}: '{name}' is blank; wanted a text for raters")
    choices = _choices(written["choices"], where) if "choices" in written else wording.choices
    url = _words(written.get("completion_url", wording.completion_url), f"{where}: 'completion_url'")
    if url:
        web_address(url, f"{where}: completion_url")
    return replace(wording, **words, choices=choices, completion_url=url)  # type: ignore[arg-type]


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
