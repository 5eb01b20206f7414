"""What raters see: the link to join by, the introduction, one text after the other, and thanks."""

import threading
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from textassay.survey.access import Access
from textassay.survey.forms import check_key, integer, read_form
from textassay.survey.origins import Origins
from textassay.survey.pages import Pages
from textassay.survey.problems import Problem
from textassay.survey.store import Store
from textassay.survey.study import Choice, Task

COOKIE = "textassay_rater"
_YEAR = 365 * 24 * 3600

# What the line above a text says, by a word in the address: nothing that comes from outside is ever shown.
STATUS = {
    "start": "",
    "saved": "Your last answer is saved.",
    "undone": "Your last answer is withdrawn. Please answer again.",
    "none": "There is no answer to withdraw.",
    "choose": "Please choose one of the answers first.",
}


@dataclass(frozen=True)
class RatingPage:
    """The pages of raters. Methods are endpoints; what touches the store runs in the thread pool."""

    store: Store
    access: Access
    origins: Origins
    pages: Pages
    # Two clicks on undo must not withdraw two answers: look and withdraw are one step for each rater.
    _locks: tuple[threading.Lock, ...] = field(default_factory=lambda: tuple(threading.Lock() for _ in range(64)))

    def join(self, request: Request) -> Response:
        """What this is, and a button to begin; or to go on, where this browser has begun before."""
        self.access.joining(request)
        returning = self._kept(request) is not None
        if not returning:
            self.access.check_room()
        token = request.path_params["token"]
        return self.pages.page("join", study=self.store.study, token=token, returning=returning)

    async def joined(self, request: Request) -> Response:
        """A new rater, or the one whom this browser knows already."""
        form = await read_form(request)
        return await run_in_threadpool(self._joined, request, form)

    def show(self, request: Request) -> Response:
        """The introduction, the current text, or thanks."""
        rater, token = self.access.rater(request), request.path_params["token"]
        message = STATUS.get(request.query_params.get("now", ""))
        task = self.store.task(rater)
        content = {"study": self.store.study, "token": token, "key": self.store.form_key(rater), "task": task}
        if task is None:
            return self.pages.page("done", **content, message=message or "")
        if task.done == 0 and message is None:
            host, path = request.headers["host"], f"/r/{token}"
            return self.pages.page("introduction", **content, link=self.origins.link(request.url.scheme, host, path))
        return self.pages.page("item", **content, message=message or "", keys=shortcut_keys(self.store.study.choices))

    async def answer(self, request: Request) -> Response:
        """Record an answer; the page that follows is asked for anew, so that no reload can send it twice."""
        form = await read_form(request)
        return await run_in_threadpool(self._answer, request, form)

    async def undo(self, request: Request) -> Response:
        """Withdraw the last answer."""
        form = await read_form(request)
        return await run_in_threadpool(self._undo, request, form)

    def _joined(self, request: Request, form: dict[str, str]) -> Response:
        self.access.joining(request)
        kept = self._kept(request)
        token = kept if kept is not None and "new" not in form else self.access.join(request)
        response = RedirectResponse(f"{self.pages.prefix}/r/{token}", 303)
        days = self.store.study.days
        response.set_cookie(
            COOKIE,
            token,
            max_age=_YEAR if days is None else days * 24 * 3600,
            path=f"{self.pages.prefix}/join/{request.path_params['token']}",
            secure=(self.origins.base_url or "").startswith("https:"),
            httponly=True,
            samesite="lax",
        )
        return response

    def _kept(self, request: Request) -> str | None:
        token = request.cookies.get(COOKIE, "")
        return token if token and self.access.returning(token) else None

    def _answer(self, request: Request, form: dict[str, str]) -> Response:
        rater = self.access.rater(request)
        check_key(form.get("key", ""), self.store.form_key(rater))
        if "rating" not in form:
            return self._back(request, "choose")
        recorded = self.store.answer(rater, integer(form.get("task", "")), integer(form["rating"]))
        if recorded == "refused":
            raise Problem(400)
        # Answered before (a second click) or no longer current (an old window): the current text sets that right.
        return self._back(request, "saved" if recorded != "stale" else "start")

    def _undo(self, request: Request, form: dict[str, str]) -> Response:
        rater = self.access.rater(request)
        check_key(form.get("key", ""), self.store.form_key(rater))
        with self._locks[rater.number % len(self._locks)]:
            if form.get("task", "") != _number(self.store.task(rater)):
                return self._back(request, "start")
            return self._back(request, "undone" if self.store.undo(rater) else "none")

    def _back(self, request: Request, now: str) -> Response:
        return RedirectResponse(f"{self.pages.prefix}/r/{request.path_params['token']}?now={now}", 303)


def _number(task: Task | None) -> str:
    return "" if task is None else str(task.number)


def shortcut_keys(choices: tuple[Choice, ...]) -> tuple[str, ...]:
    """The key for each choice: its value where all values are one digit, else its place; none beyond the ninth.

    >>> shortcut_keys((Choice(2, "Yes", ""), Choice(1, "No", "")))
    ('2', '1')
    >>> shortcut_keys((Choice(-1, "Worse", ""), Choice(0, "Same", ""), Choice(1, "Better", "")))
    ('1', '2', '3')
    """
    if all(0 <= choice.value <= 9 for choice in choices):
        return tuple(str(choice.value) for choice in choices)
    return tuple(str(place) if place <= 9 else "" for place in range(1, len(choices) + 1))
