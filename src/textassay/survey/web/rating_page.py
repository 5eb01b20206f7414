"""The pages for raters: join, introduction, one text at a time, and the final page."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from textassay.survey.model import Choice, Participant, Stage
from textassay.survey.store.study_store import Recorded, Store, Visitor
from textassay.survey.tokens import new_token
from textassay.survey.web.access import Access
from textassay.survey.web.hosts import Origins
from textassay.survey.web.middleware import check_key, integer, read_form
from textassay.survey.web.pages import Pages, Problem
from textassay.survey.web.rate_limits import address_key

COOKIE = "textassay_rater"
# Binds the form of the shared link to the browser that it was sent to.
VISIT_COOKIE = "textassay_visit"
_YEAR = 365 * 24 * 3600


@dataclass(frozen=True)
class Message:
    """The status line above a text; a warning if something was not done, which must not look like success."""

    words: str
    warning: bool = False


# The statuses by the query parameter `now`: whether each is a warning. No text from a request is ever shown.
STATUS = {
    "saved": False,
    "kept": True,
    "old": True,
    "barred": True,
    "undone": False,
    "gone": False,
    "since": True,
    "none": True,
    "fixed": True,
    "choose": True,
    "consent": True,
}
_AFTER: dict[Recorded, str] = {
    "recorded": "saved",
    "already": "saved",
    "kept": "kept",
    "stale": "old",
    "barred": "barred",
}


@dataclass(frozen=True)
class RatingPage:
    """The pages for raters. Methods are endpoints; all access to the store runs in the thread pool."""

    store: Store
    access: Access
    origins: Origins
    pages: Pages

    def join(self, request: Request) -> Response:
        """The invitation with a button to join, or to continue if this browser has joined before."""
        visitor = _visitor(request, request.query_params)
        known = self._kept(request, visitor) is not None
        makes_raters, stage = self.access.joining(request, known=known), self.store.newcomer()
        if not known:
            if not stage.left:
                return self._nothing_left(stage)
            self.access.check_may_join(visitor)
        visit = self.access.visit(request.cookies.get(VISIT_COOKIE, "")) or new_token()
        content = {"study": self.store.study, "token": request.path_params["token"], "key": self.store.join_key(visit)}
        content |= {"returning": known, "newcomers": makes_raters and stage.left, "ids": ids_in(request.query_params)}
        response = self.pages.page("join", **content)
        self._set_cookie(request, response, VISIT_COOKIE, visit)
        return response

    async def joined(self, request: Request) -> Response:
        """Add a rater, or continue with the rater in the cookie."""
        form = await read_form(request)
        return await run_in_threadpool(self._joined, request, form)

    def show(self, request: Request) -> Response:
        """The introduction, the current text, or the final page.

        The introduction assigns no text: that would start its clock and reserve it, and mail programs open links too.
        """
        rater, token = self.access.rater(request), request.path_params["token"]
        now = request.query_params.get("now", "")
        content = {"study": self.store.study, "token": token, "key": self.store.form_key(rater)}
        content["message"] = self._message(now)
        begun, stage = now == "start" or now in STATUS, self.store.stage(rater)
        if stage.asks_consent or (stage.left and not (begun or stage.answered)):
            link = self.origins.link(request.url.scheme, request.headers["host"], f"/r/{token}")
            content |= {"total": stage.total, "link": link, "asks_consent": stage.asks_consent}
            return self.pages.page("introduction", **content)
        task = self.store.task(rater) if begun or stage.answered else None
        if task is None:
            return self.pages.page("done", **content, stage=self.store.stage(rater))
        keys = shortcut_keys(self.store.study.choices)
        return self.pages.page("item", **content, task=task, keys=keys)

    async def consent(self, request: Request) -> Response:
        """Record that the rater agrees to the study, and show the first text."""
        form = await read_form(request)
        return await run_in_threadpool(self._consent, request, form)

    async def answer(self, request: Request) -> Response:
        """Record an answer and redirect, so that a reload does not send it twice."""
        form = await read_form(request)
        return await run_in_threadpool(self._answer, request, form)

    async def undo(self, request: Request) -> Response:
        """Withdraw the last answer."""
        form = await read_form(request)
        return await run_in_threadpool(self._undo, request, form)

    def back(self, request: Request) -> Response:
        """Redirect from the address of a form, which a browser shows after an error, to the rater's page."""
        self.access.rater(request)
        return RedirectResponse(f"{self.pages.prefix}/r/{request.path_params['token']}", 303)

    def _consent(self, request: Request, form: dict[str, str]) -> Response:
        rater = self.access.rater(request)
        check_key(form.get("key", ""), self.store.form_key(rater))
        if form.get("agree") != "1":
            return self._back(request, "consent")
        self.store.consent(rater)
        return self._back(request, "start")

    def _message(self, now: str) -> Message:
        return Message(self.pages.messages(f"status.{now}"), warning=STATUS[now]) if now in STATUS else Message("")

    def _joined(self, request: Request, form: dict[str, str]) -> Response:
        visitor = _visitor(request, form)
        kept = None if "new" in form else self._kept(request, visitor)
        self.access.joining(request, known=kept is not None)
        if kept is None and not (stage := self.store.newcomer()).left:
            return self._nothing_left(stage)
        if kept is None:
            self.access.check_may_join(visitor)
        visit = self.access.visit(request.cookies.get(VISIT_COOKIE, ""))
        check_key(form.get("key", ""), self.store.join_key(visit) if visit else "")
        token = kept or self.access.join(request, visitor)
        response = RedirectResponse(f"{self.pages.prefix}/r/{token}", 303)
        days = self.store.study.days
        self._set_cookie(request, response, COOKIE, token, max_age=_YEAR if days is None else days * 24 * 3600)
        return response

    def _set_cookie(
        self, request: Request, response: Response, name: str, value: str, *, max_age: int | None = None
    ) -> None:
        """Set a cookie for the page of the shared link; without `max_age` until the browser is closed."""
        response.set_cookie(
            name,
            value,
            max_age=max_age,
            path=f"{self.pages.prefix}/join/{request.path_params['token']}",
            secure=self.origins.is_secure,
            httponly=True,
            samesite="lax",
        )

    def _kept(self, request: Request, visitor: Visitor) -> str | None:
        """The token in the cookie, unless the link has the id of somebody else."""
        token = request.cookies.get(COOKIE, "")
        return token if token and self.access.returning(token, visitor) else None

    def _nothing_left(self, stage: Stage) -> Response:
        return self.pages.page("done", study=self.store.study, stage=stage, message=Message(""))

    def _answer(self, request: Request, form: dict[str, str]) -> Response:
        rater = self.access.rater(request)
        check_key(form.get("key", ""), self.store.form_key(rater))
        if "rating" not in form:
            return self._back(request, "choose")
        recorded = self.store.answer(rater, integer(form.get("task", "")), integer(form["rating"]))
        if recorded == "refused":
            raise Problem(400)
        # If the task was answered before (a second click, another window) or is not current (an old window), the
        # current text is shown.
        return self._back(request, _AFTER[recorded])

    def _undo(self, request: Request, form: dict[str, str]) -> Response:
        rater = self.access.rater(request)
        check_key(form.get("key", ""), self.store.form_key(rater))
        shown = integer(form["task"]) if form.get("task") else None
        return self._back(request, self.store.undo_shown(rater, shown))

    def _back(self, request: Request, now: str) -> Response:
        return RedirectResponse(f"{self.pages.prefix}/r/{request.path_params['token']}?now={now}", 303)


# The ids in a link, by service: that of the person, of the study, and of the session.
_IDS = {
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "hitId", "assignmentId"),
}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def ids_in(fields: Mapping[str, str]) -> dict[str, str]:
    """The ids of another service among the fields of a link or a form; ids that cannot be ones are refused."""
    found = {name: fields[name] for names in _IDS.values() for name in names if fields.get(name)}
    if not all(_ID.fullmatch(value) for value in found.values()):
        raise Problem(400, kind="ids")
    return found


def _visitor(request: Request, fields: Mapping[str, str]) -> Visitor:
    """Who opens the shared link or sends its form."""
    given = ids_in(fields)
    for service, (person, study, session) in _IDS.items():
        if person in given:
            who = Participant(service, given[person], given.get(study, ""), given.get(session, ""))
            return Visitor(address_key(request.scope.get("client")), who)
    return Visitor(address_key(request.scope.get("client")))


def shortcut_keys(choices: tuple[Choice, ...]) -> tuple[str, ...]:
    """The key for each choice: its value if all values are single digits, else its place; none after the ninth.

    >>> shortcut_keys((Choice(2, "Yes", ""), Choice(1, "No", "")))
    ('2', '1')
    >>> shortcut_keys((Choice(-1, "Worse", ""), Choice(0, "Same", ""), Choice(1, "Better", "")))
    ('1', '2', '3')
    """
    if all(0 <= choice.value <= 9 for choice in choices):
        return tuple(str(choice.value) for choice in choices)
    return tuple(str(index) if index <= 9 else "" for index in range(1, len(choices) + 1))
