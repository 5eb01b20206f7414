"""All texts of the rating page in one table per language: shipped ones, and the user's own from a TOML file."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from textassay.corpus.printable import many, quoted, shortened
from textassay.errors import InputError
from textassay.survey.model import Study

SHIPPED = ("en", "de")
_PLACEHOLDER = re.compile(r"\{[a-z]+\}")
_LANG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_DIRECTIONS = ("ltr", "rtl")
# Longer than any text of a page.
_LONGEST = 2_000


@dataclass(frozen=True)
class Messages:
    """The texts of one language by their key, such as `item.save`."""

    texts: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """The text with this key, with the values in place of the names in braces."""
        return _PLACEHOLDER.sub(lambda found: str(values.get(found[0][1:-1], found[0])), self.texts[key])


@cache
def shipped(language: str) -> Messages:
    """The table of a language that is shipped: `en` or `de`."""
    return Messages(MappingProxyType(dict(_flat(tomllib.loads(source_of(language))))))


def source_of(language: str) -> str:
    """The file of the table of a language that is shipped."""
    return files("textassay.survey.messages").joinpath(f"{language}.toml").read_text("utf-8")


def messages_of(study: Study) -> Messages:
    """The texts of a study: those of its language, with its own in place of some or all of them."""
    base = shipped(study.language if study.language in SHIPPED else "en")
    return Messages({**base.texts, **study.messages})


def read_messages(path: str) -> dict[str, str]:
    """A whole table from a TOML file; a missing or an unknown key is an InputError."""
    # Imports libraries that a server which only opens a study does not need.
    from textassay.corpus.values import read_toml

    return checked(read_toml(path), shortened(path), whole=True)


def checked(written: Mapping[str, Any], where: str, *, whole: bool) -> dict[str, str]:
    """A table by flat keys, with the keys and the names in braces of the English one: all of them if it is `whole`."""
    english, found = shipped("en").texts, dict(_flat(written))
    if unknown := [key for key in found if key not in english]:
        raise InputError(f"{where}: unknown {quoted(unknown)}; wanted keys of the English table of messages")
    if whole and (missing := [key for key in english if key not in found]):
        what = many(len(missing), "missing message")
        raise InputError(f"{where}: {what}: {quoted(missing)}; wanted all {len(english)} messages of the English table")
    for key, text in found.items():
        _check_text(key, text, english[key], f"{where}: '{key}'")
    return found


def _check_text(key: str, text: object, english: str, where: str) -> None:
    from textassay.corpus.values import check_text

    if not isinstance(text, str):
        raise InputError(f"{where} is no string; wanted a text such as '{shortened(english, 60)}'")
    check_text(text, where)
    if not text.strip() or len(text) > _LONGEST:
        raise InputError(f"{where} has {len(text.strip()):,} characters; wanted a text of 1 to {_LONGEST:,}")
    wanted, seen = (set(_PLACEHOLDER.findall(each)) for each in (english, text))
    # The default question may do without the names of a text and a context.
    if seen - wanted or (wanted - seen and not key.startswith("wording.")):
        found, names = (quoted(sorted(each)) or "no names in braces" for each in (seen, wanted))
        raise InputError(f"{where} has {found}; wanted {names}")
    if key == "lang" and not _LANG.fullmatch(text):
        raise InputError(f"{where} is '{shortened(text, 60)}'; wanted a language tag such as de or pt-BR")
    if key == "direction" and text not in _DIRECTIONS:
        raise InputError(f"{where} is '{shortened(text, 60)}'; wanted ltr or rtl")


def _flat(table: Mapping[str, Any], head: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{head}{key}.")
        else:
            yield f"{head}{key}", value
