"""The command-line application: all commands, and usage errors in one line."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from textassay.cli import (
    agree,
    compare,
    conditional,
    demo,
    frontier,
    huse,
    metrics,
    report,
    reproduce,
    run,
    stress,
)
from textassay.cli.configuration import Configuration, note_on, read_configuration, study_words, with_options
from textassay.cli.files import cache, digest, records
from textassay.cli.gate import history, plan
from textassay.cli.main import INTERRUPTED
from textassay.cli.models import prepare, sample, score, sweep, train
from textassay.cli.survey import app as survey
from textassay.corpus.printable import printable
from textassay.version import __version__

app = typer.Typer(
    name="textassay",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
app.command("compare")(compare.compare)
app.command("conditional")(conditional.conditional)
app.command("huse")(huse.huse)
app.command("frontier")(frontier.frontier)
app.command("agree")(agree.agree)
app.command("stress")(stress.stress)
app.command("plan")(plan.plan)
app.command("history")(history.history)
app.command("prepare")(prepare.prepare)
app.command("train")(train.train)
app.command("sample")(sample.sample)
app.command("score")(score.score)
app.command("sweep")(sweep.sweep)
app.command("describe")(records.describe)
app.command("convert")(records.convert)
app.command("metrics")(metrics.metrics)
app.command("reproduce")(reproduce.reproduce)
app.command("report")(report.report)
app.command("demo")(demo.demo)
app.command("run", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(run.run)
app.add_typer(survey.app, name="survey")
app.add_typer(cache.app, name="cache")
app.add_typer(digest.app, name="digest")


class _Command(TyperCommand):
    """A command whose help names arguments as `REF`. Some releases of typer show `{REF}` and `REF <str>`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line, without braces."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options and arguments, without types of arguments."""
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                # Options have a name for their value; arguments are that name themselves.
                parameter.display_type_rich = lambda **_: None  # type: ignore[method-assign, attr-defined, unused-ignore]
        panels: dict[str, list[Any]] = {"": []}
        everything = self.params
        for parameter in everything:
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or "", []).append(parameter)
        self.params = panels.pop("")
        super().format_options(ctx, formatter)
        self.params = everything
        for title, parameters in panels.items():
            with formatter.section(title):
                formatter.write_dl([record for one in parameters if (record := one.get_help_record(ctx))])


for _group in (app, survey.app, cache.app, digest.app):
    for _registered in _group.registered_commands:
        _registered.cls = _Command


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"textassay {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    no_config: Annotated[
        bool, typer.Option("--no-config", help="Do not read textassay.toml or pyproject.toml of this folder.")
    ] = False,
) -> None:
    """Measure whether generated text is distributed like real text: quality and diversity, with uncertainty."""
    del version, debug, no_config  # handled before the commands run


@dataclass(eq=False)
class _Run:
    """The configuration of the run at hand, and whether it may have one."""

    found: Configuration = field(default_factory=Configuration)
    is_configured: bool = True


_run = _Run()


def configuration() -> Configuration:
    """The configuration of the current folder."""
    _run.found = read_configuration(typer.main.get_command(app)) if _run.is_configured else Configuration()
    return _run.found


def with_places(message: str) -> str:
    """A message, with the place of each of its options that the configuration sets."""
    options = dict.fromkeys(word.strip("';,:()") for word in message.split() if "--" in word)
    places = [
        f"{option} is set in {_run.found.where}: {_run.found.used[option]}"
        for option in options
        if option in _run.found.used
    ]
    return f"{message} ({', '.join(places)})" if places else message


def invoke(arguments: Sequence[str]) -> int:
    """Run the app; usage errors become one line and exit code 2."""
    _run.is_configured = "--no-config" not in arguments
    return _invoke([argument for argument in arguments if argument != "--no-config"])


def invoke_study(name: str, further: Sequence[str]) -> int:
    """Run a study of the configuration with further arguments."""
    words = study_words(configuration(), typer.main.get_command(app), name)
    return _invoke([*words, *further], study=name)


def _invoke(arguments: Sequence[str], study: str | None = None) -> int:
    found, root = configuration(), typer.main.get_command(app)
    arguments = with_options(found, root, arguments, study)
    if not {"--help", "-h", "--quiet", "-q"} & set(arguments):
        note_on(found)
    try:
        code = app(args=list(arguments), prog_name="textassay", standalone_mode=False)
    except typer.Exit as leaving:
        code = leaving.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as leaving:
        # Typer exits with 1 when a pipe is closed; here exit code 1 means that a gate failed.
        if isinstance(leaving.__context__, BrokenPipeError):
            raise leaving.__context__ from None
        raise
    except Exception as error:
        # Some releases of typer raise click's usage errors, others their own; both have `format_message`.
        if not hasattr(error, "format_message"):
            raise
        return _report_usage_error(error)
    if code == INTERRUPTED:  # some releases of typer return this code after Ctrl-C
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def has_option(arguments: Sequence[str], option: str) -> bool:
    """Whether the command that the arguments name has an option."""
    command: Any = typer.main.get_command(app)
    for argument in arguments:
        command = getattr(command, "commands", {}).get(argument, command)
    return any(option in parameter.opts for parameter in command.params)


def _report_usage_error(error: Any) -> int:
    message = with_places(" ".join(error.format_message().split()))
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{error.format_message()}\n")
        return 2
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    sys.stderr.write(f"textassay: {printable(message)}{hint}\n")
    return 2
