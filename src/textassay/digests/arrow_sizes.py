"""What a record batch of an Arrow file takes in memory, read from the file before the batch is.

pyarrow allocates what a compressed buffer declares as its size, and a few bytes may declare any size. The layout is
that of https://arrow.apache.org/docs/format/Columnar.html: the footer lists the blocks of the file, each block begins
with a message (flatbuffers), and each compressed buffer begins with its size.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

# The length of the footer and the magic number behind it; the marker and the length before a message.
_END, _PREFIX = 10, 8
_BLOCK, _BUFFER = 24, 16
# A message describes a batch without its numbers.
_LARGEST_MESSAGE = 1 << 20
# Fields of the tables, in the order of the schema of the format.
_DICTIONARIES, _BATCHES = 2, 3
_HEADER, _DATA = 2, 1
_BUFFERS, _COMPRESSION = 2, 3


@dataclass(frozen=True)
class ArrowBlocks:
    """The places of the dictionaries and of the record batches in a file: offset, and size of the message."""

    dictionaries: tuple[tuple[int, int], ...]
    batches: tuple[tuple[int, int], ...]


def read_blocks(file: BinaryIO, charge: Callable[[int], None]) -> ArrowBlocks:
    """The blocks that the footer lists; the size of the footer is charged before it is read."""
    end = file.seek(0, os.SEEK_END) - _END
    size = _number(_read(file, end, 4), 0, 4)
    charge(size)
    footer = _Table.root(_read(file, end - size, size))
    return ArrowBlocks(*(tuple(_blocks(footer, field)) for field in (_DICTIONARIES, _BATCHES)))


def _blocks(footer: "_Table", field: int) -> list[tuple[int, int]]:
    starts = footer.items(field, _BLOCK)
    return [(_number(footer.data, start, 8), _number(footer.data, start + 8, 4)) for start in starts]


def batch_bytes(file: BinaryIO, block: tuple[int, int], *, is_dictionary: bool = False) -> int:
    """What the buffers of a block take in memory."""
    offset, size = block
    if size > _LARGEST_MESSAGE:
        raise ValueError("a message that is too long")
    content = _read(file, offset, size)
    header = _Table.root(content[_PREFIX:]).inner(_HEADER)
    batch = header.inner(_DATA) if is_dictionary else header
    is_compressed = bool(batch.place(_COMPRESSION))
    total = 0
    for start in batch.items(_BUFFERS, _BUFFER):
        begin, length = _number(batch.data, start, 8), _number(batch.data, start + 8, 8)
        own = _number(_read(file, offset + size + begin, 8), 0, 8) if is_compressed and length else -1
        # Minus 1 marks a buffer that is stored as it is.
        total += max(own, length)
    return total


@dataclass(frozen=True)
class _Table:
    """A table of flatbuffers: its fields are found by their numbers."""

    data: bytes
    start: int

    @classmethod
    def root(cls, data: bytes) -> "_Table":
        return cls(data, _number(data, 0, 4))

    def place(self, field: int) -> int:
        """Where a field is; 0 if the table does not have it."""
        known = self.start - _number(self.data, self.start, 4)
        entry = 4 + 2 * field
        if entry + 2 > _number(self.data, known, 2):
            return 0
        offset = _number(self.data, known + entry, 2)
        return self.start + offset if offset else 0

    def inner(self, field: int) -> "_Table":
        place = self.place(field)
        if not place:
            raise ValueError("a message without its header")
        return _Table(self.data, place + _number(self.data, place, 4))

    def items(self, field: int, size: int) -> range:
        """Where the items of a list of structures begin."""
        place = self.place(field)
        if not place:
            return range(0)
        begin = place + _number(self.data, place, 4)
        count = _number(self.data, begin, 4)
        if not 0 <= count * size <= len(self.data):
            raise ValueError("a list beyond its message")
        return range(begin + 4, begin + 4 + count * size, size)


def _number(data: bytes, start: int, size: int) -> int:
    """A whole number with a sign; those of places in a table are too small for one."""
    found = data[start : start + size] if start >= 0 else b""
    if len(found) < size:
        raise ValueError("a number beyond its message")
    return int.from_bytes(found, "little", signed=size > 2)


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    """A part of a file, which has all of it."""
    if start < 0 or size < 0 or start + size > os.fstat(file.fileno()).st_size:
        raise ValueError("a part beyond the end of the file")
    file.seek(start)
    return file.read(size)
