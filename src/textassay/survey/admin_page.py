"""What the admin sees: how far the study is, how well raters agree, who rated, and the ratings to take away."""

from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from textassay.survey.access import Access
from textassay.survey.admin_view import Watch
from textassay.survey.pages import Pages
from textassay.survey.store import Store


class AdminPage:
    """The pages of the admin. Methods are endpoints and run in the thread pool."""

    def __init__(self, store: Store, access: Access, pages: Pages) -> None:
        self._store, self._access, self._pages = store, access, pages
        self._watch = Watch(store)

    def show(self, request: Request) -> Response:
        """The whole page."""
        self._access.admin(request)
        return self._pages.page("admin", **self._content(request))

    def data(self, request: Request) -> Response:
        """The part of the page that changes, for the script that refreshes it."""
        self._access.admin(request)
        return self._pages.page("admin_data", **self._content(request))

    def ratings(self, request: Request) -> Response:
        """All ratings as a file, made while it is sent; `?for=spreadsheet` for one without formulas."""
        from textassay.survey.exporting import ratings_csv

        self._access.admin(request)
        safe = request.query_params.get("for") == "spreadsheet"
        headers = {"content-disposition": f'attachment; filename="{"ratings-spreadsheet" if safe else "ratings"}.csv"'}
        pieces = _encoded(ratings_csv(self._store, spreadsheet_safe=safe))
        return StreamingResponse(pieces, media_type="text/csv; charset=utf-8", headers=headers)

    def _content(self, request: Request) -> dict[str, Any]:
        return {"study": self._store.study, "token": request.path_params["token"], "view": self._watch.look()}


def _encoded(pieces: Iterator[str]) -> Iterator[bytes]:
    return (piece.encode("utf-8", "replace") for piece in pieces)
