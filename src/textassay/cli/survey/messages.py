"""`textassay survey messages`: print a table of all texts of the rating page, to translate it."""

from typing import Annotated

import typer


def messages(
    language: Annotated[str, typer.Argument(metavar="LANGUAGE", help="The language of the table: en or de.")] = "en",
) -> None:
    """Print all texts of the rating page as TOML.

    Save it to a file, translate it, and give the file to survey create --language.
    """
    from textassay.cli.outputs import write
    from textassay.corpus.printable import quoted, shortened
    from textassay.errors import InputError
    from textassay.survey.messages.tables import SHIPPED, source_of

    if language not in SHIPPED:
        raise InputError(f"language '{shortened(language, 60)}'; wanted one of {quoted(list(SHIPPED))}")
    write("-", source_of(language))
