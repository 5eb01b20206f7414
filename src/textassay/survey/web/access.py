"""Access control: from the token in a link to a rater or the admin. All wrong tokens get the same response."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request

from textassay.survey.model import Rater
from textassay.survey.store.study_store import Store, Visitor
from textassay.survey.tokens import digest_of
from textassay.survey.web.pages import Problem
from textassay.survey.web.rate_limits import Limits, address_key, token_key

# The value of Retry-After in seconds for an address with too many raters who have not answered yet.
_RETRY_JOIN = 60.0
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,200}")
T = TypeVar("T")


@dataclass(frozen=True)
class Access:
    """Checks the token of each request. Pages reach the store only through this class."""

    store: Store
    limits: Limits

    def rater(self, request: Request) -> Rater:
        """The rater of a personal link."""
        rater = self._lookup(request, self.store.rater)
        self._limit_rate(request, "rater")
        if rater.expired:
            raise Problem(410)
        return rater

    def admin(self, request: Request) -> None:
        """Refuse everybody but the admin."""
        self._lookup(request, self.store.is_admin)
        self._limit_rate(request, "admin")

    def joining(self, request: Request, *, known: bool) -> bool:
        """Refuse everybody without the shared link, and, if it is over or closed, everybody who is not `known`.

        Returns whether the link still adds raters.
        """
        link = self._lookup(request, self.store.shared_link)
        if link != "open" and not known:
            raise Problem(410, kind="closed" if link == "closed" else "")
        return link == "open"

    def check_may_join(self, visitor: Visitor) -> None:
        """Refuse a visitor whom the store would not add."""
        if (reason := self.store.refusal(visitor)) is not None:
            raise Problem(409, kind=reason)

    def join(self, request: Request, visitor: Visitor) -> str:
        """Add a rater and return the personal token; call `joining` and `check_may_join` first."""
        address = visitor.address
        if wait := self.limits.joins.take(address):
            raise Problem(429, retry_after=wait)
        if not self.limits.places.has_room(address, self.store.is_waiting):
            raise Problem(429, retry_after=_RETRY_JOIN)
        token = self.store.join(request.path_params["token"], visitor)
        if token is None:
            # Other raters joined since the check above. This is not a wrong token, and is not counted as one.
            raise Problem(409, kind="full")
        self.limits.places.add(address, digest_of(token))
        return token

    def returning(self, token: str, visitor: Visitor) -> bool:
        """Whether the token in a cookie still opens the page of a rater, who is this visitor as far as ids show."""
        rater = self.store.rater(token) if _TOKEN.fullmatch(token) else None
        if rater is None or rater.expired:
            return False
        who, known = visitor.participant, self.store.participant(rater)
        return who is None or known is None or (who.service, who.person) == (known.service, known.person)

    def visit(self, value: str) -> str | None:
        """The value of a visitor's cookie if it could be ours."""
        return value if _TOKEN.fullmatch(value) else None

    def _lookup(self, request: Request, find: Callable[[str], T | None]) -> T:
        """What `find` returns for the token in the path.

        A right token always works, even if its address has used up its wrong attempts: many people may share one
        address with somebody who guesses tokens.
        """
        token: str = request.path_params["token"]
        if found := find(token) if _TOKEN.fullmatch(token) else None:
            return found
        if wait := self.limits.failures.take(address_key(request.scope.get("client"))):
            raise Problem(429, retry_after=wait)
        raise Problem(404)

    def _limit_rate(self, request: Request, kind: str) -> None:
        if wait := self.limits.tokens.take(token_key(f"{kind} {request.path_params['token']}")):
            raise Problem(429, retry_after=wait)
