"""Whether raters could tell model texts from human ones by their looks alone, said before anybody is paid to rate."""

from collections.abc import Iterator, Sequence

from textassay.corpus.printable import quoted
from textassay.survey.study import SurveyItem

_ADVICE = "raters see such differences and may go by them; make both sides alike before you ask anybody"


def differing_looks(items: Sequence[SurveyItem], human: str) -> Iterator[str]:
    """Differences in format between the texts of each model and those by people, and at the end what to do."""
    from textassay.corpus.sample import Sample
    from textassay.corpus.tokenizers import get_tokenizer
    from textassay.studies.formatting import check_format

    by_source: dict[str, list[str]] = {}
    for item in items:
        by_source.setdefault(item.source, []).append(item.text)
    reference = Sample.of(by_source.pop(human, []), name=human)
    # Of all tokenizers the one that hides least: what it does not see, such as white space at an end, nobody sees.
    tokenizer = get_tokenizer("whitespace")
    found = [
        f"format of {quoted([source])} (candidate) and human texts (reference): {finding.message}{_fix(finding.fix)}"
        for source, texts in by_source.items()
        for finding in check_format(Sample.of(texts, name=source), reference, tokenizer=tokenizer)
        if not finding.harmless
    ]
    yield from found
    if found:
        yield _ADVICE


def _fix(fix: str) -> str:
    """What can be done about it in the files; options of other commands change nothing on a page."""
    return "" if fix.startswith("--") else f": {fix}"
