"""Signature: one line that fixes a number, so that two results with one signature are the same number anywhere."""

from collections.abc import Mapping
from typing import Any

from textassay.corpus.sample import Sample
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

    Samples stand by digest, never by name: a file name is not part of the number, and may hold anything.
    """
    fields = [metric]
    fields += [f"{name}:{value}" for name, value in options.items()]
    fields.append(settings)
    fields += [f"{role}:{len(sample)}/{sample.digest}" for role, sample in samples.items()]
    fields += [approximation] if approximation else []
    fields += [f"{name}:{value}" for name, value in resampling.items()]
    return "|".join([*fields, f"v:{__version__}"])
