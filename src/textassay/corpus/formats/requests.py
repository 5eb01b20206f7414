"""The prompts of requests, which the output of a batch does not repeat: read from its input and joined by id."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from textassay.corpus.formats.opened import row_mappings
from textassay.corpus.formats.record import at, label, prompt_of
from textassay.corpus.printable import quoted
from textassay.corpus.tables import AnySource, Expected, open_source
from textassay.errors import InputError

_IDS = ("custom_id", "prompt_id", "id")


def read_requests(source: AnySource, *, encoding: str = "utf-8") -> dict[str, str]:
    """Prompts by id, from the input of a batch or from records with an id and a prompt.

    >>> read_requests([{"custom_id": "a", "body": {"messages": [{"role": "user", "content": "Hi"}]}}])
    {'a': 'Hi'}
    """
    opened = open_source(source, Expected(), name=None, kind="requests", encoding=encoding, notes=Counter())
    found: dict[str, str] = {}
    for table in opened.tables:
        for part in table.parts(None):
            for record in row_mappings(part):
                identity = next((named for name in _IDS if (named := label(record.get(name))) is not None), None)
                prompt = _prompt(record)
                if identity is None or prompt is None:
                    continue
                if found.setdefault(identity, prompt) != prompt:
                    raise InputError(f"{opened.where}: two prompts have the id {quoted([identity])}; wanted one")
    if not found:
        raise InputError(f"{opened.where}: no request with an id and a prompt; wanted the input of a batch")
    return found


def _prompt(record: Mapping[str, Any]) -> str | None:
    asked = next((record[name] for name in ("body", "params") if isinstance(record.get(name), Mapping)), record)
    names = ("messages", "prompt", "input")
    found = prompt_of(next((at(asked, name) for name in names if at(asked, name) is not None), None))
    system = prompt_of(at(asked, "system")) or prompt_of(at(asked, "instructions"))
    return f"system: {system}\nuser: {found}" if system and found else found
