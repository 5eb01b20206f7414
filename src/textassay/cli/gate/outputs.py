"""Where people look at a build: the step summary and annotations of GitHub Actions, and JUnit XML."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import typer

from textassay.errors import InputError

if TYPE_CHECKING:
    from textassay.cli.outputs import Output
    from textassay.studies.compare.result import Comparison
    from textassay.studies.gate.result import Gate
    from textassay.studies.gate.rules import GateRules

_SUMMARY = "GITHUB_STEP_SUMMARY"


def rules_of(
    *,
    max_separable: str | None,
    contaminant: str | None,
    no_worse_than: str | None,
    margins: list[str] | None,
    fail_on: list[str] | None,
    undecided: str,
    aa: int,
    needed: bool,
) -> "GateRules":
    """The rules that the options state; an error if there are none and an output needs one."""
    from textassay.cli import options
    from textassay.studies.gate.rules import FAILURES, GateRules, margins_of

    if fail_on is not None and not options.split(fail_on):
        raise InputError(f"--fail-on without a rule; wanted any of {', '.join(FAILURES)}")
    rules = GateRules(
        max_separable=max_separable,
        contaminant=contaminant,
        no_worse_than=no_worse_than,
        margins=margins_of(options.split(margins)),
        fail_on=tuple(options.split(fail_on)),
        undecided=undecided,
        aa=aa,
    )
    if needed and not rules.exist:
        raise InputError("--github or --junit without a rule; wanted --max-separable, --no-worse-than or --fail-on")
    return rules


def with_texts(rules: "GateRules", *, baseline: Callable[[str], Any], contaminant: Callable[[str], Any]) -> "GateRules":
    """The rules with the texts of their files, read as those of a comparison are: with their field and encoding."""
    from textassay.corpus.printable import printable
    from textassay.digests.file import is_digest
    from textassay.studies.gate.baseline import is_results

    for source in (rules.no_worse_than, rules.contaminant):
        if source is not None and is_digest(source):
            raise InputError(f"{printable(source)}: a digest; the rules of a gate need texts")
    if rules.no_worse_than is not None and not is_results(rules.no_worse_than):
        rules = replace(rules, no_worse_than=baseline(rules.no_worse_than))
    return rules if rules.contaminant is None else replace(rules, contaminant=contaminant(rules.contaminant))


def junit_output(found: "Comparison", target: str | None) -> "list[Output]":
    """The output of JUnit XML, if it is wanted."""
    from textassay.studies.gate.junit import junit

    gate = found.gate
    return [] if gate is None else [(target, lambda: junit(gate))]


def finish(found: "Comparison", summary: str | None, *, to_stdout: bool) -> None:
    """Write the step summary if it is wanted, and end with the exit code of the gate if there is one.

    Annotations go to standard error where an output has standard output for itself.
    """
    if found.gate is None:
        return
    if summary is not None:
        write_for_github(found, summary, sys.stdout if to_stdout else sys.stderr)
    raise typer.Exit(found.gate.exit_code)


def summary_file(*, wanted: bool) -> str | None:
    """The file of the step summary; an error if it was asked for and this is no step of GitHub Actions."""
    if not wanted:
        return None
    found = os.environ.get(_SUMMARY)
    if not found:
        raise InputError(f"--github; the variable {_SUMMARY} is not set, wanted a step of GitHub Actions")
    return found


def write_for_github(found: "Comparison", summary: str, stream: TextIO) -> None:
    """Append the decision to the step summary, and print an annotation for each rule that is not kept."""
    from textassay.report.markdown import text
    from textassay.studies.gate.document import gate_document

    assert found.gate is not None
    try:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(text(gate_document(found.gate, found.names)))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{summary}: the step summary cannot be written ({reason})") from None
    stream.write("".join(f"{line}\n" for line in annotations(found.gate)))


def annotations(gate: "Gate") -> Sequence[str]:
    """Workflow commands: an error for each rule that is not kept, a warning for each that is undecided."""
    from textassay.studies.gate.result import FAIL, PASS, UNDECIDED, sentence

    levels = {FAIL: "error", UNDECIDED: {PASS: "notice", FAIL: "error", UNDECIDED: "warning"}[gate.when_undecided]}
    return [
        f"::{levels[check.decision]} title={_property(f'{check.candidate}: {check.rule}')}::{_data(sentence(check))}"
        for check in gate.checks
        if check.decision in levels
    ]


def _data(text: str) -> str:
    """A text in a workflow command: without line breaks, which would begin another command."""
    from textassay.corpus.printable import printable

    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
