"""The web application of a study: its routes."""

import time
from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from textassay.survey.messages.tables import messages_of
from textassay.survey.store.study_store import Store
from textassay.survey.web.access import Access
from textassay.survey.web.admin_page import AdminPage
from textassay.survey.web.hosts import Origins
from textassay.survey.web.middleware import SecurityMiddleware
from textassay.survey.web.pages import Pages, Problem, static_response
from textassay.survey.web.rate_limits import Clock, Limits
from textassay.survey.web.rating_page import RatingPage


def make_app(
    store: Store, *, base_url: str | None = None, hosts: Sequence[str] = (), clock: Clock = time.monotonic
) -> Starlette:
    """The application. `hosts` are the host names that it accepts besides those of loopback.

    `base_url` is the address at which raters open it, if there is a proxy in front; `clock` is used by the rate limits.
    """
    origins, limits = Origins.of(hosts, base_url), Limits.standard(clock)
    pages, access = Pages(origins.prefix, messages_of(store.study)), Access(store, limits)
    app = Starlette(
        routes=[
            *_for_all(pages),
            *_for_raters(RatingPage(store, access, origins, pages)),
            *_for_admins(AdminPage(store, access, pages)),
        ],
        middleware=[Middleware(SecurityMiddleware, origins=origins, limits=limits, pages=pages)],
        exception_handlers={HTTPException: _not_routed(pages)},
    )
    # An extra slash is a wrong address: no part of the request may be copied into a response.
    app.router.redirect_slashes = False
    return app


def _for_all(pages: Pages) -> list[Route]:
    # These pages do not need the store. They are async, so that they respond even if all threads wait for the store.
    async def home(_: Request) -> Response:
        return pages.page("home")

    async def static(request: Request) -> Response:
        return static_response(request.path_params["name"])

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    return [Route("/", home), Route("/static/{name}", static), Route("/health", health)]


def _for_raters(rating: RatingPage) -> list[Route]:
    return [
        Route("/join/{token}", rating.join, methods=["GET"]),
        Route("/join/{token}", rating.joined, methods=["POST"]),
        Route("/r/{token}", rating.show, methods=["GET"]),
        Route("/r/{token}/consent", rating.consent, methods=["POST"]),
        Route("/r/{token}/consent", rating.back, methods=["GET"]),
        Route("/r/{token}/answer", rating.answer, methods=["POST"]),
        Route("/r/{token}/answer", rating.back, methods=["GET"]),
        Route("/r/{token}/undo", rating.undo, methods=["POST"]),
        Route("/r/{token}/undo", rating.back, methods=["GET"]),
    ]


def _for_admins(admin: AdminPage) -> list[Route]:
    return [
        Route("/admin/{token}", admin.show, methods=["GET"]),
        Route("/admin/{token}/data", admin.data, methods=["GET"]),
        Route("/admin/{token}/change", admin.change, methods=["POST"]),
        Route("/admin/{token}/change", admin.back, methods=["GET"]),
        Route("/admin/{token}/ratings.csv", admin.ratings, methods=["GET"]),
    ]


def _not_routed(pages: Pages) -> Callable[[Request, Exception], Response]:
    """The handler for unknown addresses and methods; it shows the same page as for a wrong token."""

    def answer(_: Request, fault: Exception) -> Response:
        return pages.problem(Problem(fault.status_code if isinstance(fault, HTTPException) else 500))

    return answer
