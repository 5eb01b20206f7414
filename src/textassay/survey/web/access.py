"""Who may see what: from the token in a link to a rater or the admin, with every wrong token treated alike."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request

from textassay.survey.model import Rater
from textassay.survey.store.study_store import Store
from textassay.survey.web.pages import Problem
from textassay.survey.web.rate_limits import Limits, address_key, token_key

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,200}")
T = TypeVar("T")


@dataclass(frozen=True)
class Access:
    """The only way from a request to anything in the store."""

    store: Store
    limits: Limits

    def rater(self, request: Request) -> Rater:
        """Whose link this is."""
        rater = self._holder(request, self.store.rater)
        self._not_too_often(request, "rater")
        if rater.expired:
            raise Problem(410)
        return rater

    def admin(self, request: Request) -> None:
        """Let only the admin go on."""
        self._holder(request, self.store.is_admin)
        self._not_too_often(request, "admin")

    def joining(self, request: Request, *, known: bool) -> bool:
        """Let only those go on who have the link that is shared, and after its end only those who are `known`.

        Whether the link still makes raters.
        """
        makes_raters = self._holder(request, self.store.shared_link) == "open"
        if not (makes_raters or known):
            raise Problem(410)
        return makes_raters

    def check_room(self) -> None:
        """Let nobody in by the shared link any more when it has made all the raters that it may."""
        if self.store.full():
            raise Problem(409)

    def join(self, request: Request) -> str:
        """The personal token of a new rater, for one who may join (`joining`)."""
        self.check_room()
        if wait := self.limits.joins.take(address_key(request.scope.get("client"))):
            raise Problem(429, retry_after=wait)
        token = self.store.join(request.path_params["token"])
        if token is None:
            # Others took the last room since that was looked at: no guess, and not counted as one.
            raise Problem(409)
        return token

    def returning(self, token: str) -> bool:
        """Whether a token that a browser kept still opens somebody's page."""
        rater = self.store.rater(token) if _TOKEN.fullmatch(token) else None
        return rater is not None and not rater.expired

    def _holder(self, request: Request, look: Callable[[str], T | None]) -> T:
        """A right token always opens its page: one address may stand for many people, and for one who guesses."""
        token: str = request.path_params["token"]
        if found := look(token) if _TOKEN.fullmatch(token) else None:
            return found
        if wait := self.limits.failures.take(address_key(request.scope.get("client"))):
            raise Problem(429, retry_after=wait)
        raise Problem(404)

    def _not_too_often(self, request: Request, kind: str) -> None:
        if wait := self.limits.tokens.take(token_key(f"{kind} {request.path_params['token']}")):
            raise Problem(429, retry_after=wait)
