"""Texts without their Markdown: the words that a reader sees, read by a Markdown parser."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from textassay.corpus.printable import many
from textassay.corpus.sample import TEXT, Sample, digest_of
from textassay.errors import InputError, Setting

STRIPS = ("markdown",)
# A text without any of these reads the same with and without Markdown, up to white space at its ends.
_SIGNS = re.compile(r"[\n*_`#\[\]<>|~\\&+=-]|^\s*\d")


def stripped(sample: Sample, strip: str | None, words: Callable[[str], str] | None = None) -> Sample:
    """The sample without this kind of markup; as it is if `strip` is None.

    A text that is nothing but markup becomes blank and is left out, with a note. `words` is `plain_words`, or a form of
    it that remembers texts.

    >>> stripped(Sample.of(["**Yes**, see [this](http://a.b)."]), "markdown").texts.to_pylist()
    ['Yes, see this.']
    """
    if strip is None:
        return sample
    if strip not in STRIPS:
        raise InputError(Setting("strip", strip), f"; wanted {', '.join(STRIPS)}")
    words = words or plain_words
    texts = [words(text) if _SIGNS.search(text) else text.strip() for text in sample.texts.to_pylist()]
    array = pa.array(texts, type=TEXT)
    kept = np.array([bool(text.strip()) for text in texts])
    changed = replace(sample, texts=array, digest=digest_of(array))
    if kept.all():
        return changed
    left_out = f"{many(int((~kept).sum()), 'text')} left out that had no words beside Markdown"
    return replace(changed.take(np.flatnonzero(kept)), notes=(*sample.notes, left_out))


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # Tags stay as they are: they are no Markdown, and a finding of their own.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def plain_words(text: str) -> str:
    """The words of a Markdown text, one line per block: without signs of headings, lists, tables, emphasis and links.

    Code keeps its words. A line break inside a paragraph stays.

    >>> plain_words("## Title\\n\\n1. *one*\\n2. `two`\\n\\n| a | b |\\n|---|---|\\n| c | d |\\n")
    'Title\\none\\ntwo\\na\\nb\\nc\\nd'
    """
    return "\n".join(line for token in _parser().parse(text) for line in _lines(token) if line)


def _lines(token: Any) -> Iterator[str]:
    if token.type in ("fence", "code_block"):
        yield token.content.rstrip("\n")
    elif token.type == "inline":
        yield "".join(map(_inline, token.children)).strip()


def _inline(token: Any) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return str(token.content)
