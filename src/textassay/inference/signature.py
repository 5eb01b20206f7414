"""Signature: one line that fixes a number, so that two results with one signature are the same number anywhere."""

from collections.abc import Mapping
from typing import Any

from textassay.corpus.sample import TEXT, Sample, digest_of
from textassay.version import __version__


def signature(
    metric: str,
    options: Mapping[str, Any],
    *,
    settings: str,
    samples: Mapping[str, Sample],
    approximation: str = "",
    resampling: Mapping[str, Any],
) -> str:
    """Metric, options, settings of the views, sizes and digests of the samples, resampling, version.

    Samples are given by digest, never by name: a file name is not part of the number, and may hold anything. The
    digest of groups follows that of the texts.
    """
    fields = [metric]
    fields += [f"{name}:{value}" for name, value in options.items()]
    fields.append(settings)
    fields += [f"{role}:{len(sample)}/{sample.digest}{_groups(sample)}" for role, sample in samples.items()]
    fields += [approximation] if approximation else []
    fields += [f"{name}:{value}" for name, value in resampling.items()]
    return "|".join([*fields, f"v:{__version__}"])


def _groups(sample: Sample) -> str:
    return "" if sample.groups is None else f"/{digest_of(sample.groups.cast(TEXT))}"
