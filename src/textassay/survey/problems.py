"""What can go wrong for a visitor: a status and nothing else, so that no page of an error can tell more."""

from dataclasses import dataclass


class Problem(Exception):
    """Ends a request with the page of this status; `retry_after` in seconds where asking again later helps."""

    def __init__(self, status: int, *, retry_after: float = 0.0) -> None:
        super().__init__(status)
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True)
class Said:
    """The heading and the sentence of an error page, and whether asking again may help."""

    heading: str
    sentence: str
    again: bool = False


_OTHER = Said("That did not work", "The page could not make sense of this request. Nothing was changed.")
# True for those with a personal link and for those who came by the shared one: it left a cookie in their browser.
_WAY_BACK = (
    "If that does not help, open the link that you were given: in this browser it leads you back to where you stopped."
)
_SAID = {
    403: Said(
        "This form is no longer valid",
        "It did not come from your own page, or the page was open for too long. Nothing was changed. Please try again. "
        f"{_WAY_BACK}",
        again=True,
    ),
    404: Said(
        "Nothing here",
        "There is no page at this address. Please check that you have the whole link, with nothing cut off at its end.",
    ),
    409: Said(
        "This study is full",
        "So many people have joined by this link that no more are needed. Thank you for your interest.",
    ),
    410: Said(
        "This link has expired",
        "It worked for a limited time, and that time is over. "
        "What you answered before its end is saved; an answer that came later is not. Thank you for your help.",
    ),
    413: Said("That was too much", "The form was larger than any answer can be. Nothing was changed."),
    429: Said(
        "One moment, please",
        "There were too many requests in a short time, so nothing was done just now. Answers that were confirmed "
        "before are safe. Please wait a little and try again.",
        again=True,
    ),
    500: Said(
        "Something went wrong here",
        f"The fault is ours. Answers that were confirmed are saved. Please try again in a moment. {_WAY_BACK}",
        again=True,
    ),
    503: Said(
        "One moment, please",
        "Another program is using the study, so nothing could be saved just now. Answers that were confirmed before "
        f"are safe. Please try again in a moment. {_WAY_BACK}",
        again=True,
    ),
}


def said(status: int) -> Said:
    """What a visitor is told about this status."""
    return _SAID.get(status, _OTHER)
