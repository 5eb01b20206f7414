"""JSON documents in parts: a document with a long list of records is never in memory as a whole.

A value that fits in a window of a few megabytes is decoded in one piece. A longer document is taken apart, and its
records are yielded in parts: each part is the document with the next records of its list, and with the other values
that come before it. A list is divided only if it is the document, or if the format of the document is known to have
its records there: no other value may be in two parts.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from textassay.corpus.files.reading import PER_VALUE, Budget
from textassay.corpus.printable import quoted
from textassay.corpus.values import RECORD_DECODER, not_json
from textassay.errors import InputError

# Characters that are decoded in one piece, and characters of the records of a part.
WINDOW = 1 << 22
_SPACE = re.compile(r"[ \t\n\r]*")
_CLOSING = {"[": "]", "{": "}"}
# No word or escape of JSON has more characters.
_LONGEST_WORD = 16
# So many containers are taken apart one within the other; no format has its records deeper.
_DEEPEST = 8

# The keys that lead to a value; records of a list have the path of the list.
Path: TypeAlias = tuple[str, ...]


def document_parts(
    blocks: Iterator[str],
    where: str,
    budget: Budget,
    *,
    lists: frozenset[Path] = frozenset(),
    has_list: Callable[[Any, Path], bool] = lambda _document, _path: False,
) -> Iterator[Any]:
    """A JSON document, in parts if it is long; several documents if each is on a line of its own.

    `lists` are the paths where formats have their records; `has_list` decides for a document that has begun.

    >>> list(document_parts(iter(['{"a": [1, ', '2]}']), "x.json", Budget.of_input()))
    [{'a': [1, 2]}]
    """
    text = _Text(blocks, where, budget)
    while text.peek():
        line = text.line
        yield from _Document(text, lists, has_list).parts()
        is_on_one_line = text.line == line
        if text.peek() and (text.line == line or not is_on_one_line):
            raise text.fault("Extra data")


class _Text:
    """The characters of a document, of which those at hand are not decoded yet."""

    def __init__(self, blocks: Iterator[str], where: str, budget: Budget) -> None:
        self._blocks, self.where, self._budget = blocks, where, budget
        self._text, self._start, self._is_whole = "", 0, False
        # What came before the characters at hand: lines, characters on the last of them, and all characters.
        self._lines, self._columns, self._before = 0, 0, 0
        self._charged = 0

    @property
    def line(self) -> int:
        """The number of the line of the next character."""
        return self._lines + self._text.count("\n", 0, self._start)

    @property
    def position(self) -> int:
        """How many characters came before the next one."""
        return self._before + self._start

    def peek(self) -> str:
        """The next character that is no white space; none at the end."""
        while True:
            self._start = _SPACE.match(self._text, self._start).end()  # type: ignore[union-attr]
            if self._start < len(self._text):
                return self._text[self._start]
            if not self._read(1):
                return ""

    def next(self) -> str:
        """The next character that is no white space, which is passed."""
        found = self.peek()
        self._start += len(found)
        return found

    def value(self, most: float = math.inf) -> tuple[bool, Any]:
        """Whether the next value has at most about so many characters, and the value, which is passed."""
        while True:
            self.peek()
            try:
                value, end = RECORD_DECODER.raw_decode(self._text, self._start)
            except json.JSONDecodeError as error:
                if self._is_whole or not _may_be_cut(error, len(self._text)):
                    raise self.fault(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:
                raise not_json(self.where, error) from None
            else:
                # A number may go on in the next block, after up to two of its characters that are no number (`1e+`).
                if end + 2 < len(self._text) or self._is_whole or not isinstance(value, int | float):
                    self._start = end
                    return True, value
            at_hand = len(self._text) - self._start
            if at_hand >= most:
                return False, None
            self._read(at_hand)

    def _read(self, size: int) -> bool:
        """Read at least so many more characters; False if there are none."""
        passed = self._text[: self._start]
        self._lines += passed.count("\n")
        self._columns = len(passed) - passed.rfind("\n") - 1 + (0 if "\n" in passed else self._columns)
        self._before += len(passed)
        parts = [self._text[self._start :]]
        while size > 0 and (block := next(self._blocks, "")):
            self._charge(block)
            parts.append(block)
            size -= len(block)
        self._is_whole = len(parts) == 1
        self._text, self._start = "".join(parts), 0
        return not self._is_whole

    def _charge(self, block: str) -> None:
        # A document may consist of empty values, which take many times the memory of their characters.
        values = PER_VALUE * sum(map(block.count, "[{,\t"))
        self._charged += values
        self._budget.charge(values, self.where)

    def release(self) -> None:
        """Count the values that were decoded so far as free."""
        self._budget.taken -= self._charged
        self._charged = 0

    def fault(self, message: str, position: int | None = None) -> InputError:
        """The error for what is at a position of the characters at hand, by default the next one."""
        before = self._text[: self._start if position is None else position]
        columns = len(before) - before.rfind("\n") + (0 if "\n" in before else self._columns)
        found = not_json(self.where, message, self._lines + before.count("\n") + 1, columns)
        is_at_end = self._is_whole and not self._text[len(before) :].strip()
        if is_at_end or message.startswith("Unterminated string"):
            return InputError(f"{found}; the file ends within a value, so it is incomplete")
        return found


def _may_be_cut(error: json.JSONDecodeError, size: int) -> bool:
    """Whether an error may be that of a value whose end was not read yet."""
    return error.msg.startswith("Unterminated string") or error.pos > size - _LONGEST_WORD


class _Document:
    """A document that is being decoded: the containers that are open, from the outermost, and the keys of each."""

    def __init__(self, text: _Text, lists: frozenset[Path], has_list: Callable[[Any, Path], bool]) -> None:
        self._text, self._lists, self._has_list = text, lists, has_list
        self._open: list[Any] = []
        self._paths: list[Path] = []
        self._known: dict[Path, bool] = {}
        self._last_part = text.position

    def parts(self) -> Iterator[Any]:
        """The document, in parts if it is long."""
        self._open, self._paths = [[]], [()]
        yield from self._value((), None)
        yield self._open[0][-1]

    def _value(self, path: Path, key: str | None) -> Iterator[Any]:
        """Decode the next value into the innermost container; yield what became a part meanwhile."""
        leads = not path or any(known[: len(path)] == path for known in self._lists)
        may_divide = leads and len(self._open) <= _DEEPEST
        first = self._text.peek()
        is_whole, value = self._text.value(WINDOW if may_divide and first in _CLOSING else math.inf)
        if not is_whole:
            value = [] if first == "[" else {}
        container = self._open[-1]
        if key is None:
            container.append(value)
        else:
            container[key] = value
        if not is_whole:
            self._open.append(value)
            self._paths.append(path)
            yield from self._values(_CLOSING[self._text.next()])
            self._open.pop()
            self._paths.pop()

    def _values(self, closing: str) -> Iterator[Any]:
        """Decode the values of a container that was opened."""
        separator, path = ",", self._paths[-1]
        if self._text.peek() == closing:
            separator = self._text.next()
        while separator == ",":
            if closing == "]" and self._is_full():
                yield self._part()
            key = self._key() if closing == "}" else None
            yield from self._value(path if key is None else (*path, key), key)
            separator = self._text.next()
        if separator != closing:
            raise self._text.fault("Expecting ',' delimiter")

    def _key(self) -> str:
        key = self._text.value()[1] if self._text.peek() == '"' else None
        if key is None or self._text.next() != ":":
            raise self._text.fault("Expecting property name enclosed in double quotes, and ':'")
        if key in self._open[-1]:
            raise not_json(self._text.where, f"the key {quoted([key])} appears twice")
        return str(key)

    def _is_full(self) -> bool:
        """Whether the innermost list has records, and so many that they become a part."""
        if self._text.position - self._last_part <= WINDOW or not self._open[-1]:
            return False
        depth, path = len(self._open), self._paths[-1]
        if depth == 2:
            return True
        if path not in self._lists or isinstance(self._open[-2], list):
            return False
        if path not in self._known:
            document = next(one for one in self._open[1:] if isinstance(one, dict))
            self._known[path] = self._has_list(document, path)
        return self._known[path]

    def _part(self) -> Any:
        """The document so far; what is decoded from now on goes into a new one, without the records so far."""
        part, fresh = self._open[0][-1], list[Any]([[]])
        for inner, outer, path in zip(self._open[1:], self._open, self._paths[1:], strict=False):
            new: Any = [] if isinstance(inner, list) else self._beside(inner, path)
            if isinstance(outer, list):
                fresh[-1].append(new)
            else:
                fresh[-1][path[-1]] = new
            fresh.append(new)
        self._open, self._last_part = fresh, self._text.position
        self._text.release()
        return part

    def _beside(self, values: dict[str, Any], path: Path) -> dict[str, Any]:
        """The values of an object without lists of records."""
        return {
            key: value for key, value in values.items() if not (isinstance(value, list) and (*path, key) in self._lists)
        }
