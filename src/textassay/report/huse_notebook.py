"""A HUSE study in a notebook: a data frame of its items, and scores and verdict styled in place."""

from importlib import import_module
from typing import Any

from textassay.corpus.errors import InputError
from textassay.report import huse_csv
from textassay.report import huse_trust as trust
from textassay.report import huse_words as words
from textassay.report.html import environment
from textassay.report.standing import WORDS
from textassay.studies.judged import Judged, titled

# A sign a verdict beside the word, and never colour alone: notebooks are light or dark without telling.
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "✕", "untested": "?"}
_MOST_NOTES = 10


def to_pandas(found: Judged) -> Any:
    """A data frame with one row an item."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError("pandas is not installed; get it with: pip install pandas") from None
    return pandas.DataFrame(huse_csv.rows(found), columns=list(huse_csv.FIELDS))


def render_huse_notebook(found: Judged) -> str:
    """An HTML fragment for a notebook's output cell."""
    level = found.verdict.level if found.verdict.level in WORDS else "untested"
    rows = [
        (
            titled(label),
            words.score(result.estimate),
            words.interval_text(result.interval),
            p_value,
            words.chance_text(result),
            words.meaning(result),
        )
        for label, result, p_value in zip(found.labels, found.results, words.p_texts(found), strict=True)
    ]
    facts = [(name, words.counts(found, is_model=is_model)) for name, is_model in words.sources(found)]
    facts += [words.k_range(found), *(("raters", line) for line in trust.agreement_lines(found))]
    return (
        environment()
        .get_template("huse_notebook.html.j2")
        .render(
            name=found.rated.name,
            heading=words.heading(found),
            word=WORDS[level],
            sign=_SIGNS[level],
            sentence=found.verdict.sentence,
            rows=rows,
            facts=[(name, line) for name, line in facts if line],
            legend=words.legend(found),
            notes=[*words.missing_lines(found), *words.all_notes(found)][:_MOST_NOTES],
        )
    )
