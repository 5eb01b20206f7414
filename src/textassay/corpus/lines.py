"""A text a line, without a Python loop over the lines."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from textassay.corpus.sample import TEXT


def line_texts(blocks: Iterable[str]) -> Iterator[pa.Array]:
    """The lines of each block of whole lines."""
    for block in blocks:
        yield _lines(unix_breaks(block))


def unix_breaks(block: str) -> str:
    r"""Line breaks as ``\n`` only.

    A lone ``\r`` stays: generated text and progress bars hold it in mid-line, and the line numbers of our messages must
    be those of `sed`, `grep -n` and `wc -l`, none of which break there. U+2028 and the like stay for the same reason.

    >>> unix_breaks("one\r\ntwo\rstill two\n")
    'one\ntwo\rstill two\n'
    """
    return block.replace("\r\n", "\n")


def _lines(block: str) -> pa.Array:
    data = block.encode()
    if not data.endswith(b"\n"):
        data += b"\n"
    breaks = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
    # Arrow wants the texts back to back: without the breaks, the end of line i moves left by the i breaks before it.
    offsets = np.zeros(len(breaks) + 1, dtype=np.int64)
    offsets[1:] = breaks - np.arange(len(breaks))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data.replace(b"\n", b""))]
    return pa.Array.from_buffers(TEXT, len(breaks), buffers)
