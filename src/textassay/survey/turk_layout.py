"""The page of a HIT for Mechanical Turk: placeholders for the texts, radio buttons for the answers."""

from functools import cache

from jinja2 import Template
from markupsafe import Markup

from textassay.survey.study import Study
from textassay.survey.templating import environment
from textassay.survey.turk import Batch, referenced


def layout(study: Study, batch: Batch) -> str:
    """The HTML to paste into the requester page; answers come back as `Answer.rating_1` and so on."""
    return _template().render(study=study, slots=range(1, batch.slots + 1), with_context=batch.with_context)


@cache
def _template() -> Template:
    templates = environment().overlay()
    # Stricter than escaping: words of the study must not be taken for placeholders either.
    templates.filters = templates.filters | {"referenced": lambda text: Markup(referenced(text))}  # noqa: S704
    return templates.get_template("turk_layout.html.j2")
