"""Text, counts and shares made safe and readable for people: escaped control characters, plurals, percentages."""

import re
import unicodedata
from collections.abc import Sequence

_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _escaped(code: int) -> str:
    return _SHORT.get(chr(code)) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


# Besides C0, DEL and C1: the two Unicode line separators, which would break the promise of one line; the embeddings,
# overrides and isolates that reorder what follows them (the plain marks U+200E and U+200F stay, honest right-to-left
# text needs them); and surrogates, which represent undecodable bytes in file names and fit in no UTF-8 stream.
_UNSAFE = (
    *range(0x20),
    *range(0x7F, 0xA0),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
)
_ESCAPES = {code: _escaped(code) for code in _UNSAFE}
# A whole run of white space at once: with a break within the pattern, a long run without one takes time in its square.
_WHITE_SPACE = re.compile(r"\s+")
_ESCAPES_IN_LINES = {code: escape for code, escape in _ESCAPES.items() if chr(code) not in "\t\n"}


def printable(text: str) -> str:
    r"""The text on one line, without anything that could control a terminal.

    >>> print(printable("red \x1b[31m, two\nlines"))
    red \x1b[31m, two\nlines
    """
    return text.translate(_ESCAPES)


def printable_lines(text: str) -> str:
    r"""The text with its lines and tabs, without anything else that could control a terminal.

    >>> print(printable_lines("red \x1b[31m,\r\ntwo\rlines"))
    red \x1b[31m,
    two\rlines
    """
    return text.replace("\r\n", "\n").translate(_ESCAPES_IN_LINES)


def shortened(text: str, width: int = 200) -> str:
    """The text made printable and cut to `width` characters, with dots where something is missing.

    >>> shortened("a long name", width=6)
    'a l...'
    """
    return printable(text) if len(text) <= width else printable(text[: width - 3]) + "..."


def on_one_line(text: str) -> str:
    r"""The text with a space for each line break and the white space around it, for an example of it.

    >>> on_one_line("Sure!\n\n- one\n")
    'Sure! - one '
    """
    return _WHITE_SPACE.sub(lambda run: " " if "\n" in run[0] or "\r" in run[0] else run[0], text)


def quoted(names: list[str], most: int = 12) -> str:
    """Names in quotes and commas, for a message.

    >>> print(quoted(["prompt", "output"]))
    'prompt', 'output'
    """
    return listed([f"'{shortened(name, 60)}'" for name in names], most)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names with commas, cut with a count.

    >>> listed(["r001", "r002", "r003"], most=2)
    'r001, r002 and 1 more'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


_DIGITS = re.compile(r"(\d+)")


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """A key under which names are ordered by the values of the numbers inside them.

    >>> sorted(["step-4500", "step-500", "step-0500"], key=natural_order)
    ['step-500', 'step-0500', 'step-4500']
    """
    digits = [(part, part.lstrip("0")) for part in _DIGITS.split(name)]
    return [(0, len(bare), bare) if part.isdecimal() else (1, 0, part) for part, bare in digits]


# Control and format characters, half of a pair, not assigned, private, separators, and marks on the next character.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Cn", "Co", "Zs", "Zl", "Zp", "Mn", "Me"))
# Signs that begin a formula. The full-width signs are read like the plain ones where such input is usual.
_FORMULA_SIGNS = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# Signs before which some spreadsheets still read a formula: the separators of commands and of cells.
_BEFORE_FORMULA = frozenset("|%")


def begins_like_formula(cell: str, *, numbers: bool = False) -> bool:
    r"""Whether a spreadsheet might run a cell as a formula. With `numbers`, cells may be numbers, which are none.

    >>> [begins_like_formula(cell) for cell in ("=1+1", "\n =1", "-1.5", "a = b", "\t")]
    [True, True, True, False, True]
    >>> begins_like_formula("-1.5", numbers=True)
    False
    """
    if numbers and _is_number(cell):
        return False
    seen = next((character for character in cell if not _is_blank(character)), "")
    return seen in _FORMULA_SIGNS or cell.startswith(("\t", "\r"))


def _is_blank(character: str) -> bool:
    """Whether a spreadsheet may remove a character from the beginning of a cell, or ignore it there.

    White space of any kind, control characters, and characters without a shape of their own, by Unicode category.
    """
    return character.isspace() or character in _BEFORE_FORMULA or unicodedata.category(character) in _INVISIBLE


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def many(count: int, what: str, plural: str | None = None) -> str:
    """A number of things.

    >>> many(1, "rating"), many(4000, "rating"), many(2, "reply", "replies")
    ('1 rating', '4,000 ratings', '2 replies')
    """
    return f"{count:,} {what if count == 1 else plural or f'{what}s'}"


def share(value: float) -> str:
    """A percentage; never 0 % or 100 % for what is neither.

    >>> share(0.9712), share(0.0004), share(0.9999), share(1.0), share(0.034)
    ('97 %', '<0.1 %', '>99.9 %', '100 %', '3.4 %')
    """
    if 0 < value < 0.001:
        return "<0.1 %"
    if 0.999 < value < 1:
        return ">99.9 %"
    digits = 1 if 0 < value < 0.1 or 0.99 < value < 1 else 0
    return f"{100 * value:.{digits}f} %"
