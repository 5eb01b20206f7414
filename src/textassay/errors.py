"""The error that a user's input can raise, in Python's words and in those of the command line."""

from dataclasses import dataclass

# Options whose name is not the parameter's with dashes.
_OPTIONS = {
    "distances": "--distance",
    "families": "--family",
    "leave_out_flagged": "--without-flagged",
    "margins": "--margin",
    "n_draws": "--draws",
    "n_items": "--items",
    "n_points": "--points",
    "n_resamples": "--resamples",
    "n_runs": "--runs",
    "n_starts": "--starts",
    "n_seeds": "--seeds",
    "width": "--beam",
}


@dataclass(frozen=True)
class Setting:
    """A parameter in an error message: `n_resamples=5` in Python, `--resamples 5` on the command line.

    Without a value the message only names the parameter.

    >>> setting = Setting("n_resamples", 5)
    >>> str(setting), setting.as_option()
    ('n_resamples=5', '--resamples 5')
    >>> str(Setting("field")), Setting("field").as_option()
    ('field=...', '--field')
    """

    name: str
    value: object = ...

    def __str__(self) -> str:
        return f"{self.name}={'...' if self.value is ... else _shortened(repr(self.value))}"

    def as_option(self) -> str:
        """The option of the command line that sets this parameter, with its value."""
        option = _OPTIONS.get(self.name, f"--{self.name.replace('_', '-')}")
        return option if self.value is ... or self.value is True else f"{option} {_shortened(str(self.value))}"


@dataclass(frozen=True)
class PythonHint:
    """A part of an error message for Python callers; the command line leaves it out."""

    text: str

    def __str__(self) -> str:
        return self.text

    def as_option(self) -> str:
        """Nothing: the hint is not about the command line."""
        return ""


class InputError(ValueError):
    """Bad input or usage: one line that states what is wrong, where, what was seen and what was wanted.

    The message may be given in parts, of which some are settings. The command line turns the error into one line and
    exit code 2.

    >>> error = InputError(Setting("level", 95), "; wanted at least 0.5 and below 1")
    >>> print(error)
    level=95; wanted at least 0.5 and below 1
    >>> print(error.with_options())
    --level 95; wanted at least 0.5 and below 1
    """

    def __init__(self, *parts: str | Setting | PythonHint) -> None:
        super().__init__("".join(map(str, parts)))
        self._parts = parts

    def with_options(self) -> str:
        """The message with options of the command line in place of Python parameters."""
        return "".join(part if isinstance(part, str) else part.as_option() for part in self._parts)


class MissingExtra(InputError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; get it with: pip install 'textassay[{extra}]'")


def _shortened(text: str, width: int = 60) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
