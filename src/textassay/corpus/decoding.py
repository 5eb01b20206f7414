"""Bytes to text, strictly: any encoding, in blocks that end at a line break, with the line of the first bad byte."""

import codecs
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from textassay.corpus.errors import InputError
from textassay.corpus.printable import shortened

MARK = "\ufeff"
MARK_NOTE = "byte order mark removed"


def check_encoding(encoding: str) -> str:
    """The codec's own name, or an error when there is no such text encoding.

    >>> check_encoding("UTF8"), check_encoding("latin-1")
    ('utf-8', 'iso8859-1')
    """
    try:
        # Encoding nothing refuses codecs such as base64 and rot13, which a look-up alone lets through.
        "".encode(encoding)
        name = codecs.lookup(encoding).name
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError):
        wanted = "one such as utf-8, latin-1 or utf-16"
        raise InputError(f"unknown encoding '{shortened(encoding, 60)}'; wanted {wanted}") from None
    # Plain UTF-8 leaves the mark in the text, so that it can be removed and noted in one place.
    return "utf-8" if name == "utf-8-sig" else name


def text_blocks(blocks: Iterable[bytes], where: str, *, encoding: str, notes: Counter[str]) -> Iterator[str]:
    """Decoded text in pieces; each but the last ends with a line break, so that no line is ever in two pieces."""
    # A line longer than many blocks is joined once, at its end: adding block to block would be quadratic.
    pending: list[str] = []
    for text in _without_mark(_decoded(blocks, where, encoding), notes):
        cut = text.rfind("\n") + 1
        if cut:
            yield "".join((*pending, text[:cut]))
            pending = [text[cut:]]
        else:
            pending.append(text)
    if rest := "".join(pending):
        yield rest


def _without_mark(texts: Iterator[str], notes: Counter[str]) -> Iterator[str]:
    first = next((text for text in texts if text), "")
    if first.startswith(MARK):
        notes[MARK_NOTE] += 1
    return chain([first.removeprefix(MARK)], texts)


def _decoded(blocks: Iterable[bytes], where: str, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for block, last in chain(((block, False) for block in blocks), [(b"", True)]):
        state = decoder.getstate()
        try:
            text = decoder.decode(block, last)
            if encoding != "utf-8":
                # Some codecs (utf-7, unicode_escape) can give lone surrogates, which are not text.
                text.encode()
        except UnicodeDecodeError as error:
            decoder.setstate(state)
            line += decoder.decode(block[: max(0, error.start - len(state[0]))]).count("\n")
            raise _bad_byte(error, f"{where}:{line}", encoding) from None
        except UnicodeError as error:
            raise InputError(f"{where}:{line}: not valid {encoding}: {shortened(str(error))}") from None
        line += text.count("\n")
        yield text


def _bad_byte(error: UnicodeDecodeError, where: str, encoding: str) -> InputError:
    seen = error.object[error.start]
    guess = "utf-16" if error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
    return InputError(f"{where}: byte 0x{seen:02x} is not valid {encoding}; set --encoding (for example {guess})")
