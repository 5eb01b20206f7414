"""What the admin sees: how far the study is, how well raters agree, who rated, and the ratings to take away."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

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
        """All ratings as a file. It is made in one piece: a cursor of the store must not wander between threads."""
        from textassay.survey.exporting import ratings_csv

        self._access.admin(request)
        text = "".join(ratings_csv(self._store))
        headers = {"content-disposition": 'attachment; filename="ratings.csv"'}
        return Response(text.encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)

    def _content(self, request: Request) -> dict[str, Any]:
        return {"study": self._store.study, "token": request.path_params["token"], "view": self._watch.look()}
