"""Logs of inspect in zip files (`.eval`): one record per sample, in the form of the JSON log.

Entries are compressed with deflate or zstd. Python's zip module reads zstd from version 3.14 on only, so these entries
are unpacked by Arrow.
"""

import json
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa

from textassay.corpus.files.reading import PER_VALUE, Budget, PackedBudget, Source, failures_named, open_regular
from textassay.corpus.values import RECORD_DECODER, decode_json
from textassay.errors import InputError

_MAGIC = b"PK\x03\x04"
_ZSTD = 93
_HEADERS = ("header.json", "_journal/start.json")
_WHOLE = re.compile(r"samples/(?P<name>.+_epoch_\d+)\.json")
_PARTS = re.compile(r"samples/(?P<name>.+_epoch_\d+)/(?P<part>sample\.json|attachments/.+)")
_KEPT = ("id", "uuid", "epoch", "input", "output", "error", "limit", "invalidation")
_NAMED = re.compile(r"(?:attachment|tc)://(\w+)")
# The fixed part of an entry's own header, and where it has the lengths of its name and of its extra field.
_LOCAL_HEADER, _NAME_LENGTH, _EXTRA_LENGTH = 30, 26, 28


def is_zip(source: Source) -> bool:
    """Whether a regular file is a zip file, by its first bytes."""
    with open_regular(source.path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


def inspect_logs(source: Source, budget: Budget) -> Iterator[dict[str, Any]]:
    """A log with one sample for each sample of the file; a log without samples is one record."""
    with _archive(source) as (archive, file, size):
        packed = budget.of_packed(size)
        names = {info.filename: info for info in archive.infolist()}
        header = next((names[name] for name in _HEADERS if name in names), None)
        if header is None:
            raise InputError(f"{source.where}: a zip file without {_HEADERS[0]}; wanted a log of inspect (.eval)")
        about = _value(archive, file, header, packed, source.where)
        # Only the start of a run has no status.
        log = {"status": "started", **about} if isinstance(about, dict) else {}
        count = 0
        for sample in _samples(archive, file, packed, source.where):
            count += 1
            yield {**log, "samples": [sample]}
        if not count:
            yield {**log, "samples": []}


@contextmanager
def _archive(source: Source) -> Iterator[tuple[zipfile.ZipFile, BinaryIO, int]]:
    with failures_named(source.where), open_regular(source.path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive, file, file.seek(0, 2)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            # A log that is still being written has no directory at its end.
            raise InputError(f"{source.where}: an incomplete or damaged zip file ({error})") from None


def _samples(archive: zipfile.ZipFile, file: BinaryIO, packed: PackedBudget, where: str) -> Iterator[Any]:
    parts: dict[str, dict[str, zipfile.ZipInfo]] = defaultdict(dict)
    for info in archive.infolist():
        if _WHOLE.fullmatch(info.filename):
            yield _needed(_value(archive, file, info, packed, where))
        elif found := _PARTS.fullmatch(info.filename):
            parts[found["name"]][found["part"]] = info
    for entries in parts.values():
        if "sample.json" in entries:
            yield _needed(_sample_of_parts(archive, file, entries, packed, where))


def _needed(sample: Any) -> Any:
    """What a record is made of: the events of a sample may take many times the memory of its texts."""
    if not isinstance(sample, dict):
        return sample
    kept = {name: sample[name] for name in _KEPT if name in sample}
    stored, named = sample.get("attachments"), set(_NAMED.findall(json.dumps(kept, default=str)))
    return {
        **kept,
        "attachments": {key: stored[key] for key in named & set(stored)} if isinstance(stored, dict) else {},
    }


def _sample_of_parts(
    archive: zipfile.ZipFile, file: BinaryIO, entries: dict[str, zipfile.ZipInfo], packed: PackedBudget, where: str
) -> Any:
    """A sample of the layout with a folder per sample: what is in the other files is put back into it."""
    sample = _value(archive, file, entries["sample.json"], packed, where)
    if not isinstance(sample, dict):
        return sample
    inside = sample.get("attachments")
    attachments = dict(inside) if isinstance(inside, dict) else {}
    for name, info in entries.items():
        if name.startswith("attachments/"):
            content = _content(archive, file, info, packed, where).decode(errors="replace")
            attachments[name.removeprefix("attachments/").partition(".")[0]] = content
    return {**sample, "attachments": attachments}


def _value(archive: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo, packed: PackedBudget, where: str) -> Any:
    content = _content(archive, file, info, packed, where)
    place = f"{where}: {info.filename}"
    packed.charge(PER_VALUE * sum(map(content.count, (b"[", b"{", b","))), where)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: byte 0x{content[error.start]:02x} is not valid utf-8") from None
    return decode_json(text, place, decoder=RECORD_DECODER)


def _content(
    archive: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo, packed: PackedBudget, where: str
) -> bytes:
    packed.charge(info.file_size, where)
    if info.compress_type != _ZSTD:
        return archive.read(info)
    if not pa.Codec.is_available("zstd"):
        raise InputError(
            f"{where}: entries compressed with zstd, which this build of pyarrow lacks; wanted pyarrow of PyPI"
        )
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    lengths = [int.from_bytes(header[start : start + 2], "little") for start in (_NAME_LENGTH, _EXTRA_LENGTH)]
    file.seek(sum(lengths), 1)
    compressed = file.read(info.compress_size)
    # One byte more than declared, so that an entry that is larger than it says is noticed; frames follow each other.
    content = pa.input_stream(pa.BufferReader(compressed), compression="zstd").read(info.file_size + 1)
    if len(content) != info.file_size:
        raise InputError(f"{where}: {info.filename}: not as long as the zip file says; wanted an intact log")
    return bytes(content)
