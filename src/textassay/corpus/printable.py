"""Text and counts made safe and readable for people: escaped control characters, shortened texts, plurals."""

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


def printable(text: str) -> str:
    r"""The text on one line, without anything that could control a terminal.

    >>> print(printable("red \x1b[31m, two\nlines"))
    red \x1b[31m, two\nlines
    """
    return text.translate(_ESCAPES)


def shortened(text: str, width: int = 200) -> str:
    """The text made printable and cut to `width` characters, with dots where something is missing.

    >>> shortened("a long name", width=6)
    'a l...'
    """
    return printable(text) if len(text) <= width else printable(text[: width - 3]) + "..."


def quoted(names: list[str], most: int = 12) -> str:
    """Names in quotes and commas, for a message.

    >>> print(quoted(["prompt", "output"]))
    'prompt', 'output'
    """
    listed = ", ".join(f"'{shortened(name, 60)}'" for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def many(count: int, what: str, plural: str | None = None) -> str:
    """A number of things.

    >>> many(1, "rating"), many(4000, "rating"), many(2, "reply", "replies")
    ('1 rating', '4,000 ratings', '2 replies')
    """
    return f"{count:,} {what if count == 1 else plural or f'{what}s'}"
