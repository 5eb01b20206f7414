"""Remarks on a new study: problems with its items, and format differences that reveal the source."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from textassay.corpus.printable import many, quoted
from textassay.survey.model import SurveyItem

if TYPE_CHECKING:
    from textassay.inference.format_check import Finding

_FORMAT_ADVICE = "raters can see such differences and may rate by them; remove them before you collect ratings"


def format_differences(items: Sequence[SurveyItem], human: str) -> Iterator[str]:
    """Differences in format between the texts of each model and the human texts, and then the advice."""
    from textassay.corpus.sample import Sample
    from textassay.corpus.tokenizers import get_tokenizer
    from textassay.inference.format_check import check_format

    by_source: dict[str, list[str]] = {}
    for item in items:
        by_source.setdefault(item.source, []).append(item.text)
    reference = Sample.of(by_source.pop(human, []), name=human)
    # The tokenizer that hides least: what it ignores, such as trailing white space, raters do not see either.
    tokenizer = get_tokenizer("whitespace")
    found = [
        f"format of {quoted([source])} (candidate) and human texts (reference): {finding.message}{_fix(finding)}"
        for source, texts in by_source.items()
        for finding in check_format(Sample.of(texts, name=source), reference, tokenizer=tokenizer)
        if not finding.harmless
    ]
    yield from found
    if found:
        yield _FORMAT_ADVICE


def _fix(finding: "Finding") -> str:
    """How to change the files; settings of a comparison have no effect on the rating page."""
    return "" if finding.by_option else f": {finding.fix}"


# What models and data sets write in place of a word that they do not know.
_MARKED = re.compile(r"<unk>|\[unk\]|<unknown>", re.IGNORECASE)
_BARE = re.compile(r"\b(?:UNK|UNKNOWN)\b")


def unknown_token(texts: Iterable[str]) -> str | None:
    """The most frequent token for an unknown word, such as `<unk>` or `UNKNOWN`; None if the texts have none.

    A bare token counts only in a text that is not in capitals altogether, where it may be a word like others.

    >>> unknown_token(["UNKNOWN wins the race", "a <unk> and a <unk>"]), unknown_token(["AN UNKNOWN HERO", "unknown"])
    ('<unk>', None)
    """
    found: Counter[str] = Counter()
    for text in texts:
        found.update(_MARKED.findall(text))
        rest = _MARKED.sub("", text)
        if not _BARE.sub("", rest).isupper():
            found.update(_BARE.findall(rest))
    return found.most_common(1)[0][0] if found else None


def remarks_on(items: Sequence[SurveyItem], human: str) -> list[str]:
    """Remarks, most important first; `human` is the source that models are compared with."""
    counts = Counter(item.source for item in items)
    return [
        *_too_few(counts, human),
        *_unequal(counts),
        *_repeated(items, list(counts)),
        *_without_log_probs(items),
        *format_differences(items, human),
    ]


def _too_few(counts: Counter[str], human: str) -> Iterator[str]:
    """Models with too few texts to measure HUSE, whatever the number of ratings."""
    fewest, k = _fewest_for_huse()
    for source, count in counts.items():
        n = 2 * min(count, counts[human])
        if source != human and n < fewest:
            yield (
                f"{n:,} texts in equal parts of {quoted([human])} and {quoted([source])}: textassay huse needs at "
                f"least {fewest:,}, two for each of its k = {k} neighbours (or a smaller --k)"
            )


def _fewest_for_huse() -> tuple[int, int]:
    """The fewest items with which HUSE is measured by default, and its default number of neighbours."""
    from textassay.metrics.registry import all_metrics

    huse = all_metrics()["huse"]
    options = {name: option.default for name, option in huse.options.items()}
    return huse.minimum_for(options), options["k"]


def _unequal(counts: Counter[str]) -> Iterator[str]:
    if len(set(counts.values())) > 1:
        each = ", ".join(f"{count:,} of {quoted([source])}" for source, count in counts.items())
        yield f"unequal numbers of texts: {each}; textassay huse uses an equal number of each (or set --size)"


def _repeated(items: Sequence[SurveyItem], sources: Sequence[str]) -> Iterator[str]:
    texts = {source: Counter((i.text, i.context) for i in items if i.source == source) for source in sources}
    for source, found in texts.items():
        repeated = found.total() - len(found)
        if repeated:
            verb = "repeats" if repeated == 1 else "repeat"
            yield f"{many(repeated, 'text')} of {quoted([source])} {verb} another one; each is rated separately"
    for one, other in combinations(sources, 2):
        if shared := len(texts[one].keys() & texts[other].keys()):
            verb = "is" if shared == 1 else "are"
            alike = " with the same context" if any(context is not None for _, context in texts[one]) else ""
            yield (
                f"{many(shared, 'text')} {verb} in both {quoted([one])} and {quoted([other])}{alike}; each copy is "
                "rated separately, and one rater may see both"
            )


def _without_log_probs(items: Sequence[SurveyItem]) -> Iterator[str]:
    missing = sum(item.log_prob is None for item in items)
    if missing:
        which = "the texts have" if missing == len(items) else f"{missing:,} of {len(items):,} texts have"
        which = which.replace("have", "has") if missing == 1 else which
        yield f"{which} no log-probability; join them later with textassay huse --log-probs"
