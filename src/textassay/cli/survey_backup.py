"""`textassay survey backup`: a whole copy of a study, also while its page is served."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from textassay.cli import survey_options as options


def backup(
    study: options.StudyFile,
    new: Annotated[str, typer.Argument(metavar="NEW.db", help="The copy to make; never a file that exists.")],
) -> None:
    """Copy a study to a new file: all answers that were acknowledged, also while the page is served.

    The links of the study open the copy too. A copy by other means may lack the last answers.
    """
    from textassay.cli.outputs import STANDARD_OUTPUT
    from textassay.cli.screen import output_console
    from textassay.cli.survey_screen import many, show_facts
    from textassay.corpus.errors import InputError
    from textassay.survey.store import Store

    if new == STANDARD_OUTPUT:
        raise InputError("a study cannot go to standard output (-); wanted a new file")
    with closing(Store.open(Path(study), read_only=True)) as store:
        store.backup(Path(new))
    with closing(Store.open(Path(new), read_only=True)) as copy:
        summary = copy.summary()
    raters = many(sum(rater.done > 0 for rater in summary.raters), "rater")
    facts = [("study", study), ("copy", new), ("holds", f"{many(summary.ratings, 'rating')} by {raters}")]
    show_facts(output_console(), facts)
