"""Build a digest from shards: each shard on its own, in any process and any order, and then a tree of merges.

Every finished shard is kept in a folder beside the result until that is written, under a name that depends on the
shard and on all settings. So a run that was stopped continues where it ended, and two runs of one shard write the same
file.
"""

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from textassay.corpus.files import is_pattern, pattern_files, write_failures_named
from textassay.corpus.markdown import STRIPS
from textassay.corpus.printable import listed as cut_list
from textassay.corpus.printable import printable
from textassay.corpus.readers import read_sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.digests.digest import Digest, digest_sample, merge_digests, merged_in_tree
from textassay.digests.file import ENDING, MOST_BLOCKS, read_digest, write_digest
from textassay.digests.statistics import BY_BLOCK, Layout
from textassay.engines.base import Engine
from textassay.errors import InputError, Setting
from textassay.metrics.views import Settings
from textassay.version import __version__

_WIDTH = 16
# Fewer blocks than this give too few exchanges for a test.
_FEWEST_BLOCKS = 8
_LARGEST_SKETCH = 1 << 24


@dataclass(frozen=True)
class Recipe:
    """How shards are read and counted. The parts of one digest have one recipe."""

    tokenizer: str = "words"
    lowercase: bool = False
    strip: str | None = None
    text_field: str | None = None
    encoding: str = "utf-8"
    layout: Layout = field(default_factory=Layout)
    key: str = field(default="", repr=False)

    def checked(self) -> "Recipe":
        """The same recipe; an error for one that no digest can be made by."""
        layout = self.layout
        if not _FEWEST_BLOCKS <= layout.n_blocks <= MOST_BLOCKS:
            wanted = f"{_FEWEST_BLOCKS} to {MOST_BLOCKS:,}, such as 40"
            raise InputError(Setting("blocks", layout.n_blocks), f"; wanted {wanted}")
        sketch = layout.sketch
        if sketch and (sketch % BY_BLOCK or not 16 * BY_BLOCK <= sketch <= _LARGEST_SKETCH):
            wanted = f"0 (exact counts), or a multiple of {BY_BLOCK} from {16 * BY_BLOCK:,} to {_LARGEST_SKETCH:,}"
            raise InputError(Setting("sketch", sketch), f"; wanted {wanted}")
        get_tokenizer(self.tokenizer, lowercase=self.lowercase)
        if self.strip is not None and self.strip not in STRIPS:
            raise InputError(Setting("strip", self.strip), f"; wanted {', '.join(STRIPS)}")
        return self


@dataclass(frozen=True)
class ShardJob:
    """One shard, how it is counted, and the file that its digest is kept in."""

    path: str
    name: str
    recipe: Recipe
    part: str


@dataclass(frozen=True)
class Done:
    """What became of a shard: its file, or why it could not be read."""

    part: str
    problem: str = ""


def digest_file(path: str, name: str, recipe: Recipe) -> Digest:
    """The digest of one shard."""
    sample = read_sample(path, field=recipe.text_field, encoding=recipe.encoding)
    settings = Settings(get_tokenizer(recipe.tokenizer, lowercase=recipe.lowercase), strip=recipe.strip)
    return digest_sample(sample, settings, layout=recipe.layout, shard=name, key=recipe.key)


def make_part(job: ShardJob) -> Done:
    """Count a shard and keep its digest, unless an earlier run has done it; a shard that cannot be read is no failure.

    It needs nothing but its argument, so that it runs in any process that sees the files.
    """
    if Path(job.part).is_file():
        return Done(job.part)
    try:
        digest = digest_file(job.path, job.name, job.recipe)
    except InputError as error:
        return Done(job.part, str(error))
    write_digest(digest, job.part)
    return Done(job.part)


def shard_files(patterns: Sequence[str]) -> dict[str, str]:
    """The files of shards by name: a shard is named by its path below the folder that all have in common."""
    paths = [path for pattern in patterns for path in (pattern_files(pattern)[0] if is_pattern(pattern) else [pattern])]
    if "-" in paths:
        raise InputError("a shard is a file; wanted no standard input")
    if not paths:
        raise InputError("no shard given; wanted at least one file")
    whole = [os.path.abspath(path) for path in paths]
    top = os.path.commonpath([os.path.dirname(path) for path in whole])
    named = {os.path.relpath(path, top).replace(os.sep, "/"): given for path, given in zip(whole, paths, strict=True)}
    if len(named) < len(paths):
        raise InputError("a shard is given twice; wanted every shard once")
    return dict(sorted(named.items()))


def build_digest(
    shards: Sequence[str], out: str, recipe: Recipe, *, engine: Engine, skip_bad: bool = False, name: str | None = None
) -> Digest:
    """Count all shards and write their digest to `out`.

    Parameters
    ----------
    shards
        Files or patterns.
    out
        The file to write. Finished shards are kept beside it, in `OUT.parts`, until it is written.
    recipe
        How shards are read and counted.
    engine
        What runs the shards.
    skip_bad
        Leave out shards that cannot be read. They are counted in the digest.
    name
        The name of the digest; by default that of the file.

    Returns
    -------
    Digest
        What was written.
    """
    if not out.endswith(ENDING):
        raise InputError(f"{printable(out)}: wanted a name that ends in {ENDING}")
    files = shard_files(shards)
    folder = f"{out}.parts"
    with write_failures_named(folder):
        os.makedirs(folder, exist_ok=True)
        jobs = [ShardJob(path, shard, recipe, _part(folder, path, shard, recipe)) for shard, path in files.items()]
        done = engine.map(make_part, jobs)
    problems = [each.problem for each in done if each.problem]
    if problems and not skip_bad:
        more = f" (and {len(problems) - 1:,} more shards)" if len(problems) > 1 else ""
        raise InputError(
            f"{problems[0]}{more}; what is finished is kept: run again, or leave bad shards out with ",
            Setting("skip_bad", True),
        )
    parts = [each.part for each in done if not each.problem]
    if not parts:
        raise InputError(f"no shard could be read ({cut_list(problems, 3)})")
    digest = _merged(parts).named(name or Path(out).name.removesuffix(ENDING))
    digest = replace(digest, n_skipped=digest.n_skipped + len(problems))
    with write_failures_named(out):
        write_digest(digest, out)
    shutil.rmtree(folder, ignore_errors=True)
    return digest


def _merged(parts: Sequence[str]) -> Digest:
    """The digest of all parts, of which only a few are in memory at a time."""
    found = [merge_digests([read_digest(part) for part in parts[k : k + _WIDTH]]) for k in range(0, len(parts), _WIDTH)]
    return merged_in_tree(found, width=_WIDTH)


def _part(folder: str, path: str, shard: str, recipe: Recipe) -> str:
    """The file of a shard's digest: another one where the file, its name, a setting or the program is another."""
    try:
        about = os.stat(path)
    except OSError as error:
        raise InputError(f"{printable(path)}: {(error.strerror or str(error)).lower()}") from None
    key = hashlib.blake2b(recipe.key.encode(), digest_size=8).hexdigest()
    fixed = (shard, about.st_size, about.st_mtime_ns, replace(recipe, key=key), key, __version__)
    return os.path.join(folder, hashlib.blake2b(repr(fixed).encode(), digest_size=16).hexdigest() + ENDING)
