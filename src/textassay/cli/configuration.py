"""The configuration of the current folder: options of commands, and named studies, in a TOML file."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from textassay.errors import InputError

FILES = ("textassay.toml", "pyproject.toml")
_OPTIONS, _STUDIES = "options", "studies"
_COMMAND, _ARGUMENTS = "command", "arguments"
# Where our table may begin: `[tool.textassay]`, in any spelling, or within the table `[tool]`.
_TABLE = re.compile(rb"tool[\"']?\s*\.\s*[\"']?textassay|\[\s*[\"']?tool[\"']?\s*\]")


@dataclass(eq=False)
class Configuration:
    """What a file configures. `used` are the options that a run takes from it, each with its place in the file."""

    where: str = ""
    tables: Mapping[str, Any] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)

    @property
    def studies(self) -> Mapping[str, Any]:
        """The named studies."""
        found: Mapping[str, Any] = self.tables.get(_STUDIES, {})
        return found

    def error(self, key: str, seen: str, wanted: str) -> InputError:
        """The error for a key of the file."""
        return InputError(f"{self.where}: {key}: {seen}; wanted {wanted}")


def read_configuration(root: Any) -> Configuration:
    """The configuration of the current folder, empty without one; `root` is the group of all commands."""
    if os.path.isfile(FILES[0]):
        tables: Mapping[str, Any] = _read(FILES[0])
    elif os.path.isfile(FILES[1]) and _names_us(FILES[1]):
        tables = _tables_of_tool(_read(FILES[1]))
    else:
        return Configuration()
    where = FILES[0] if os.path.isfile(FILES[0]) else f"{FILES[1]}: tool.textassay"
    found = Configuration(where, tables)
    _check_tables(found, root)
    return found


def _names_us(path: str) -> bool:
    """Whether the file mentions textassay in its first MiB; every command asks, so nothing is imported for it."""
    with open(path, "rb") as file:
        content = file.read(1 << 20)
    return b"textassay" in content and _TABLE.search(content) is not None


def _read(path: str) -> dict[str, Any]:
    from textassay.corpus.values import read_toml

    return read_toml(path)


def _tables_of_tool(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tables of `tool.textassay`; empty where there is none."""
    for level, name in enumerate(("tool", "textassay"), 1):
        found = tables.get(name, {})
        if not isinstance(found, dict):
            key = ".".join(("tool", "textassay")[:level])
            raise InputError(f"{FILES[1]}: {key}: {_shown(found)}; wanted a table")
        tables = found
    return tables


def _check_tables(found: Configuration, root: Any) -> None:
    """Refuse what is no table of a command, of options or of studies."""
    known = [_OPTIONS, _STUDIES, *root.commands]
    for name, table in found.tables.items():
        if name not in known:
            if not isinstance(table, dict):
                raise found.error(name, "an option outside of a table", f"it in [{_OPTIONS}] or in that of a command")
            raise found.error(name, "unknown table", _one_of(name, known))
        if not isinstance(table, dict):
            raise found.error(name, _shown(table), "a table")
    for name, study in found.studies.items():
        if not isinstance(study, dict):
            raise found.error(f"{_STUDIES}.{name}", _shown(study), "a table")
    every = {option for command in _commands(root) for option in _options_of(command)}
    for name in found.tables.get(_OPTIONS, {}):
        if _plain(name) not in every:
            raise found.error(f"{_OPTIONS}.{name}", "no option of any command", _one_of(_plain(name), sorted(every)))


def _commands(group: Any) -> Iterator[Any]:
    for command in group.commands.values():
        yield from _commands(command) if hasattr(command, "commands") else [command]


def with_options(found: Configuration, root: Any, words: Sequence[str], study: str | None = None) -> list[str]:
    """A command line with the options of the file: those of a study before those of its command and of all commands.

    Options of the command line win, since they come last; lists are replaced, not extended.
    """
    command, path = _command_of(root, words)
    if not path or hasattr(command, "commands"):
        return list(words)
    given, chosen = words[len(path) :], dict[str, _Option]()
    for key, table in _tables_for(found, command, path, study):
        for name, value in table.items():
            option = _option(found, command, f"{key}.{name}", name, value)
            chosen[option.parameter.name] = option
    left = [option for option in chosen.values() if not _is_given(option.parameter, given)]
    found.used = {word.split("=")[0]: option.place for option in left for word in option.words}
    return [*path, *(word for option in left for word in option.words), *given]


@dataclass(frozen=True)
class _Option:
    """An option of the file: its parameter, its place, and how it is written on the command line."""

    parameter: Any
    place: str
    words: list[str]


def _tables_for(
    found: Configuration, command: Any, path: Sequence[str], study: str | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables of a command, the most general first."""
    options = _options_of(command)
    yield _OPTIONS, {key: value for key, value in found.tables.get(_OPTIONS, {}).items() if _plain(key) in options}
    own = found.tables
    for name in path:
        own = own.get(name, {})
        if not isinstance(own, dict):
            raise found.error(".".join(path), _shown(own), "a table")
    yield ".".join(path), own
    if study is not None:
        named = found.studies[study]
        yield f"{_STUDIES}.{study}", {key: named[key] for key in named if key not in (_COMMAND, _ARGUMENTS)}


def _option(found: Configuration, command: Any, place: str, name: str, value: Any) -> _Option:
    options = _options_of(command)
    if _plain(name) not in options:
        raise found.error(place, f"no option of {command.name}", _one_of(_plain(name), list(options)))
    parameter, is_on = options[_plain(name)]
    return _Option(parameter, place, _as_words(found, place, parameter, value, is_on=is_on))


def _is_given(parameter: Any, words: Sequence[str]) -> bool:
    """Whether a command line has an option."""
    names = (*parameter.opts, *parameter.secondary_opts)
    starts = tuple(f"{name}=" if name.startswith("--") else name for name in names)
    options = words[: words.index("--")] if "--" in words else words
    return any(word in names or word.startswith(starts) for word in options)


def _command_of(root: Any, words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command that words name, and its names."""
    command, path = root, list[str]()
    for word in words:
        inner = getattr(command, "commands", {}).get(word)
        if inner is None:
            break
        command, path = inner, [*path, word]
    return command, path


def study_words(found: Configuration, root: Any, name: str) -> list[str]:
    """The command and the arguments of a study."""
    if name not in found.studies:
        where = found.where or f"no {FILES[0]} here"
        raise InputError(f"{where}: no study {_shown(name)}; wanted {_one_of(name, list(found.studies))}")
    study, key = found.studies[name], f"{_STUDIES}.{name}"
    words, arguments = study.get(_COMMAND), study.get(_ARGUMENTS, [])
    if not isinstance(words, str):
        raise found.error(f"{key}.{_COMMAND}", _shown(words), "the name of a command")
    command, path = _command_of(root, words.split())
    if path != words.split() or not path or hasattr(command, "commands") or path == ["run"]:
        raise found.error(
            f"{key}.{_COMMAND}", _shown(words), _one_of(words, [one for one in root.commands if one != "run"])
        )
    if not isinstance(arguments, list) or not all(isinstance(value, str) for value in arguments):
        raise found.error(f"{key}.{_ARGUMENTS}", _shown(arguments), "a list of strings")
    return [*path, *arguments]


def _as_words(found: Configuration, place: str, parameter: Any, value: Any, *, is_on: bool) -> list[str]:
    """An option of the file as it is on the command line, which checks its value."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise found.error(place, _shown(value), "true or false")
        names = parameter.opts if value is is_on else parameter.secondary_opts
        return [name for name in names if name.startswith("--")][:1]
    values = value if isinstance(value, list) and parameter.multiple else [value]
    if not all(type(one) in (str, int, float) for one in values):
        wanted = "a string or a number" + (", or a list of them" if parameter.multiple else "")
        raise found.error(place, _shown(value), wanted)
    name = next(name for name in parameter.opts if name.startswith("--"))
    return [f"{name}={one}" for one in values]


def _options_of(command: Any) -> dict[str, tuple[Any, bool]]:
    """The options of a command by their names without dashes, and whether the name turns a flag on."""
    found: dict[str, tuple[Any, bool]] = {}
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.name not in ("help", "version", "debug"):
            for names, is_on in ((parameter.opts, True), (parameter.secondary_opts, False)):
                found |= {name[2:]: (parameter, is_on) for name in names if name.startswith("--")}
    return found


def _plain(name: str) -> str:
    return name.replace("_", "-")


def _one_of(name: str, known: Sequence[str]) -> str:
    """The name that is meant, or all of them if none is close."""
    from textassay.corpus.printable import quoted

    close = get_close_matches(name, known, n=1)
    return quoted(close) if close else f"one of {quoted(list(known))}" if known else "no name: there are none"


def _shown(value: Any) -> str:
    from textassay.corpus.printable import shortened

    return "nothing" if value is None else shortened(repr(value), 60)


def note_on(found: Configuration) -> None:
    """Print which options come from the file, so that no result depends on it unnoticed."""
    if found.used:
        from textassay.corpus.printable import printable

        sys.stderr.write(f"note: {found.where}: {printable(', '.join(found.used))}\n")
