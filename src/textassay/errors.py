"""The one error a user's input can raise; the command line turns it into one line and exit code 2."""


class InputError(ValueError):
    """Bad input or usage. The message says what, where, what was seen and what was wanted, on one line."""


class MissingExtra(InputError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; get it with: pip install 'textassay[{extra}]'")
