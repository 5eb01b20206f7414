"""Addresses of the page: with a path, with and without a trailing slash, and IPv4 and IPv6 on `::`."""

import http.client
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.survey.conftest import ITEMS, STUDY, Site
from tests.survey.web.forms import forms
from tests.survey.web.server_process import served
from textassay.errors import InputError
from textassay.survey.store.study_store import Store
from textassay.survey.web.hosts import Origins


@pytest.mark.parametrize("path", ["/study", "/study/", "/"])
def test_the_address_that_is_printed_opens(make_site: Callable[..., Site], path: str) -> None:
    client = make_site(base_url="https://example.org/study").visitor()
    found = client.get(path, headers={"host": "example.org"})
    assert (found.status_code, "/study/static/survey.css" in found.text) == (200, True)


@pytest.mark.parametrize("path", ["/studyx", "/stud", "/study//", "/study/study", "//study"])
def test_other_addresses_do_not(make_site: Callable[..., Site], path: str) -> None:
    client = make_site(base_url="https://example.org/study").visitor()
    assert client.get(f"http://127.0.0.1:8000{path}").status_code == 404


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("bücher.example", "xn--bcher-kva.example"),
        ("STRASSE.example", "strasse.example"),
        ("straße.example", "xn--strae-oqa.example"),
    ],
)
def test_an_international_name_is_known_as_browsers_send_it(
    make_site: Callable[..., Site], name: str, sent: str
) -> None:
    site = make_site(base_url=f"https://{name}")
    client = site.visitor()
    address, host = f"/join/{site.links.join}", {"host": sent}
    page = client.get(address, headers=host)
    assert page.status_code == 200
    assert client.get(address, headers={"host": f"x{sent}"}).status_code == 400
    form, visit = forms(page.text)["form 0"], {"cookie": page.headers["set-cookie"].partition(";")[0]}
    joined = client.post(form.action, data=form.fields, headers=host | visit | {"origin": f"https://{sent}"})
    assert joined.status_code == 303


@pytest.mark.parametrize("name", ["a" * 70 + "ü.example", "ü..example", "\u2028.example"])
def test_a_name_that_cannot_be_sent_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="is not a web address"):
        Origins.of((), f"https://{name}")


def _has_ipv6() -> bool:
    try:
        with closing(socket.create_server(("::1", 0), family=socket.AF_INET6)):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not _has_ipv6(), reason="a machine without IPv6")
def test_all_addresses_are_those_of_both_kinds(tmp_path: Path) -> None:
    """A proxy is known again by whichever kind it comes: all guesses are by one sender, who has thirty of them."""
    Store.create(tmp_path / "s.db", STUDY, ITEMS)
    with served(tmp_path / "s.db", host="::", proxies=["127.0.0.1", "::1"]) as (process, where):
        port = int(where.rpartition(":")[2])
        statuses = {address: guesses(address, port, n=20) for address in ("127.0.0.1", "::1")}
        process.terminate()
        assert process.communicate(timeout=300) == ("closed\n", "")
    assert statuses == {"127.0.0.1": {404}, "::1": {404, 429}}


def guesses(address: str, port: int, *, n: int) -> set[int]:
    """What so many wrong links are answered, all sent on behalf of the same sender."""
    found = set()
    with closing(http.client.HTTPConnection(address, port, timeout=300)) as line:
        for _ in range(n):
            line.request("GET", "/r/guess", headers={"x-forwarded-for": "203.0.113.7"})
            response = line.getresponse()
            response.read()
            found.add(response.status)
    return found
