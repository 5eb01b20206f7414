"""What a browser does with the forms of a page: find them, fill them in, send them."""

import html
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from httpx2 import Response
    from starlette.testclient import TestClient
else:
    # Who imports this needs a page to visit, and is skipped where there can be none.
    TestClient = pytest.importorskip("starlette.testclient", reason="needs starlette").TestClient

__all__ = ["Form", "TestClient", "answer", "begin", "forms", "heading", "join", "status", "undo"]


@dataclass
class Form:
    """A form: where it goes, its hidden fields, and the values of its radio buttons."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: list[str] = field(default_factory=list)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Form] = {}
        self._open: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(given["action"], given["method"])
            self.found[given.get("id", f"form {len(self.found)}")] = self._open
        elif tag == "input" and self._open is not None:
            if given["type"] == "radio":
                self._open.choices.append(given["value"])
            else:
                self._open.fields[given["name"]] = given["value"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None


def forms(page: str) -> dict[str, Form]:
    """The forms of a page by their id, or by their number."""
    parser = _Forms()
    parser.feed(page)
    return parser.found


def heading(page: str) -> str:
    """What a page says first."""
    return html.unescape(re.findall(r"<h1[^>]*>([^<]*)</h1>", page)[0])


def status(page: str) -> str:
    """What a page says about what was done last."""
    return html.unescape(re.findall(r'<p role="status" id="status"[^>]*>([^<]*)</p>', page)[0])


def answer(client: TestClient, page: str, value: str) -> str:
    """Send the form of a text with this choice; the page that follows."""
    form = forms(page)["answer"]
    assert value in form.choices
    sent = client.post(form.action, data={**form.fields, "rating": value})
    assert sent.status_code == 303, sent.text
    return client.get(sent.headers["location"]).text


def undo(client: TestClient, page: str) -> str:
    """Press the button that withdraws; the page that follows."""
    form = forms(page)["undo"]
    sent = client.post(form.action, data=form.fields)
    assert sent.status_code == 303
    return client.get(sent.headers["location"]).text


def join(client: TestClient, address: str, *, headers: dict[str, str] | None = None, **fields: str) -> "Response":
    """Open the shared link and send its form, or what a form would send if there is none."""
    found = forms(client.get(address, headers=headers).text)
    key = {"key": found["form 0"].fields["key"]} if found else {}
    return client.post(address, data={**key, **fields}, headers=headers)


def begin(client: TestClient, address: str) -> str:
    """Open a personal link and press Start."""
    form = forms(client.get(address).text)["form 0"]
    assert (form.method, form.fields) == ("get", {"now": "start"})
    return client.get(form.action, params=form.fields).text
