"""Attacks on the rating page: all are refused, reveal nothing and change nothing."""

import asyncio
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.survey.conftest import HOME, ITEMS, SCRIPT, SOURCE, SQL, STUDY, Site
from tests.survey.web.forms import TestClient, answer, begin, forms, join
from textassay.survey.store import progress as clock
from textassay.survey.web.app import make_app
from textassay.survey.web.middleware import MOST_BODY

ATTACKS = (
    SCRIPT,
    SQL,
    "' OR '1'='1",
    "1 OR 1=1",
    '"><img src=x onerror=alert(1)>',
    "{{ 7919 * 7907 }}",
    "../../etc/passwd",
    "%00",
    "\x00",
    "١",
    "1_0",
    " 1",
    "1e0",
    "9" * 30,
    "",
)
FORM = {"content-type": "application/x-www-form-urlencoded"}


def tokens(site: Site) -> list[str]:
    """All secrets that stand in addresses."""
    return [site.links.admin, site.links.join, *site.links.raters]


def refusal(sent: Any, site: Site) -> tuple[int, list[str]]:
    """The status of an answer, and all that it tells though nobody must be told."""
    secrets = (*tokens(site), SOURCE, "Traceback", "sqlite", ".py", str(site.path), "site-packages")
    told = [secret for secret in secrets if any(secret in said for said in (sent.text, *sent.headers.values()))]
    return sent.status_code, told + [SCRIPT] * (SCRIPT in sent.text)


@pytest.fixture
def unchanged(site: Site) -> Iterator[None]:
    """Whatever happens in the test, every row of the database stays as it was."""
    before = site.content()
    assert sum(map(len, before.values())) > len(ITEMS)
    yield
    assert site.content() == before


def forged(site: Site) -> list[str]:
    """Tokens that look right, look wrong, or were right but for a little."""
    token = site.links.raters[0]
    other = "A" if token[-1] != "A" else "B"
    return [
        "x",
        "A" * len(token),
        token[:-1],
        token + "A",
        token[:-1] + other,
        token.swapcase(),
        "A" * 300,
        "%F0%28",
        "a%20b",
    ]


@pytest.mark.usefixtures("unchanged")
def test_forged_and_malformed_tokens_all_get_the_same_page(site: Site) -> None:
    pages = set()
    for token in [*forged(site), "%27%20OR%201%3D1--", "%3Cscript%3E", "..%2f..%2fetc%2fpasswd"]:
        client = TestClient(make_app(site.store), base_url=HOME, follow_redirects=False)
        for path in (
            f"/r/{token}",
            f"/join/{token}",
            f"/admin/{token}",
            f"/admin/{token}/data",
            f"/admin/{token}/ratings.csv",
        ):
            sent = client.get(path)
            assert refusal(sent, site) == (404, [])
            pages.add((sent.text, str(sorted(sent.headers.items()))))
        for path in (f"/r/{token}/answer", f"/r/{token}/undo", f"/join/{token}"):
            sent = client.post(path, data={"key": "k", "task": "1", "rating": "1"})
            assert refusal(sent, site) == (404, [])
            pages.add((sent.text, str(sorted(sent.headers.items()))))
    assert len(pages) == 1


@pytest.mark.usefixtures("unchanged")
def test_a_token_opens_only_its_own_kind_of_page(site: Site, client: TestClient) -> None:
    admin, join, rater = site.links.admin, site.links.join, site.links.raters[0]
    for token in (join, rater):
        for end in ("", "/data", "/ratings.csv"):
            assert refusal(client.get(f"/admin/{token}{end}"), site) == (404, [])
    for token in (admin, join):
        assert refusal(client.get(f"/r/{token}"), site) == (404, [])
        sent = client.post(f"/r/{token}/answer", data={"key": "", "task": "1", "rating": "1"})
        assert refusal(sent, site) == (404, [])
    for token in (admin, rater):
        assert refusal(client.get(f"/join/{token}"), site) == (404, [])
        assert refusal(client.post(f"/join/{token}", data={"new": "1"}), site) == (404, [])


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "path", ["/admin", "/admin/", "/admin/data", "/admin//data", "/admin//ratings.csv", "/admin/%20"]
)
def test_admin_pages_need_the_admin_token(site: Site, client: TestClient, path: str) -> None:
    assert refusal(client.get(path), site) == (404, [])
    headers = {"authorization": f"Bearer {site.links.raters[0]}", "x-original-url": "/admin"}
    assert refusal(client.get(path, headers=headers), site) == (404, [])


def test_expired_links_are_gone_and_take_no_answers(
    make_site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(replace(STUDY, days=1))
    client = site.visitor()
    form = forms(begin(client, site.rater()))["answer"]
    before, later = site.content(), clock.now() + 2 * clock.DAY
    monkeypatch.setattr(clock, "now", lambda: later)
    sent = client.get(site.rater())
    assert refusal(sent, site) == (410, [])
    assert "This link has expired" in sent.text
    assert refusal(client.post(form.action, data={**form.fields, "rating": "1"}), site) == (410, [])
    assert refusal(client.post(f"{site.rater()}/undo", data=form.fields), site) == (410, [])
    assert refusal(client.get(f"/join/{site.links.join}"), site) == (410, [])
    assert refusal(join(client, f"/join/{site.links.join}"), site) == (410, [])
    assert site.content() == before


def test_nobody_answers_or_undoes_for_somebody_else(site: Site, client: TestClient) -> None:
    mine, theirs = begin(client, site.rater(0)), begin(client, site.rater(1))
    after = answer(client, theirs, "6")
    before = site.content()
    my_form, their_form = forms(mine)["answer"], forms(after)["answer"]
    # The key of one in the form of the other, either way round.
    for address, key in ((my_form.action, their_form.fields["key"]), (their_form.action, my_form.fields["key"])):
        for task in (my_form.fields["task"], their_form.fields["task"]):
            for end in (address, address.replace("answer", "undo")):
                sent = client.post(end, data={"key": key, "task": task, "rating": "1"})
                assert refusal(sent, site) == (403, [])
    # One's own key, somebody else's text.
    sent = client.post(my_form.action, data={**my_form.fields, "task": their_form.fields["task"], "rating": "1"})
    assert sent.status_code == 303
    assert site.content() == before
    assert site.values() == [6]


@pytest.mark.parametrize("key", [None, *ATTACKS])
def test_a_form_without_the_right_key_is_refused(site: Site, client: TestClient, key: str | None) -> None:
    form = forms(answer(client, begin(client, site.rater()), "6"))["answer"]
    before = site.content()
    fields = {"task": form.fields["task"], "rating": "1"} | ({} if key is None else {"key": key})
    assert refusal(client.post(form.action, data=fields), site) == (403, [])
    assert refusal(client.post(f"{site.rater()}/undo", data=fields), site) == (403, [])
    assert site.content() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1.evil.example:8000"},
        {"origin": "http://127.0.0.1:8000@evil.example"},
        {"origin": "https://127.0.0.1:8001"},
        {"origin": "file://"},
        {"origin": SCRIPT},
        {"referer": "https://evil.example/page"},
        {"origin": "null", "referer": "https://evil.example/page"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": HOME, "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": SQL},
    ],
)
def test_posts_from_other_sites_are_refused(site: Site, client: TestClient, headers: dict[str, str]) -> None:
    form = forms(answer(client, begin(client, site.rater()), "6"))["answer"]
    before = site.content()
    for address in (form.action, f"{site.rater()}/undo", f"/join/{site.links.join}"):
        assert refusal(client.post(address, data={**form.fields, "rating": "1"}, headers=headers), site) == (403, [])
    assert site.content() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": HOME, "sec-fetch-site": "same-origin"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"origin": "null"},
        {"referer": f"{HOME}/r/x"},
        {},
    ],
)
def test_posts_from_our_own_page_are_taken(site: Site, client: TestClient, headers: dict[str, str]) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    sent = client.post(form.action, data={**form.fields, "rating": "1"}, headers=headers)
    assert sent.status_code == 303
    assert site.values() == [1]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("headers", [{"origin": "null"}, {}, {"origin": "null", "sec-fetch-site": "none"}])
@pytest.mark.parametrize("fields", [{}, {"new": "1"}, {"key": ""}, {"key": "k"}])
def test_a_form_of_another_site_adds_no_rater(
    site: Site, client: TestClient, headers: dict[str, str], fields: dict[str, str]
) -> None:
    """Over plain HTTP, browsers send no Sec-Fetch-Site; cookies of SameSite=lax are not sent with such a form."""
    address, other = f"/join/{site.links.join}", site.visitor()
    theirs = forms(other.get(address).text)["form 0"].fields["key"]
    for given in (fields, {**fields, "key": theirs}):
        assert refusal(client.post(address, data=given, headers=headers), site) == (403, [])
        # Not even with the cookie of a visit: the key of another browser is not the right one.
        visited = site.visitor()
        visited.get(address)
        sent = visited.post(address, data=given, headers=headers)
        assert refusal(sent, site) == (403, [])
        assert "set-cookie" not in sent.headers


@pytest.mark.parametrize("attack", ATTACKS)
def test_script_and_sql_in_every_field_is_refused(site: Site, client: TestClient, attack: str) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    before = site.content()
    good = {**form.fields, "rating": "3"}
    for name in ("task", "rating"):
        assert refusal(client.post(form.action, data={**good, name: attack}), site) == (400, [])
    sent = client.post(f"{site.rater()}/undo", data={**form.fields, "task": attack})
    assert sent.status_code == (400 if attack else 303)
    for name in ("now", "key", "task", attack or "x"):
        shown = client.get(site.rater(), params={name: attack})
        assert shown.status_code == 200
        assert SCRIPT not in shown.text
        assert "onerror" not in shown.text
    assert site.content() == before


@pytest.mark.parametrize("value", ["0", "7", "-1", "999999999"])
def test_ratings_off_the_scale_are_refused(site: Site, client: TestClient, value: str) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    before = site.content()
    assert refusal(client.post(form.action, data={**form.fields, "rating": value}), site) == (400, [])
    assert site.content() == before


@pytest.mark.parametrize(
    "body",
    [
        "rating=1&rating=2",
        "&".join(f"f{n}=1" for n in range(50)),
        "rating=%ff%fe",
        "rating=\xff",
        "=&=&=",
    ],
)
def test_forms_that_no_page_of_ours_sends_are_refused(site: Site, client: TestClient, body: str) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    before = site.content()
    key = f"key={form.fields['key']}&task={form.fields['task']}&"
    sent = client.post(form.action, content=(key + body).encode("latin-1"), headers=FORM)
    assert refusal(sent, site) == (400, [])
    assert site.content() == before


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", SCRIPT])
def test_other_kinds_of_body_are_refused(site: Site, client: TestClient, kind: str) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    before = site.content()
    body = f"key={form.fields['key']}&task={form.fields['task']}&rating=1"
    assert refusal(client.post(form.action, content=body, headers={"content-type": kind}), site) == (415, [])
    assert site.content() == before


@pytest.mark.parametrize("attack", [SCRIPT, SQL, "x" * 2000, "() { :; }; id", "%s%n"])
@pytest.mark.parametrize(
    "name",
    ["user-agent", "accept-language", "x-forwarded-for", "x-forwarded-host", "cookie", "referer", "if-none-match"],
)
def test_script_and_sql_in_headers_changes_no_page(site: Site, client: TestClient, name: str, attack: str) -> None:
    wanted = client.get(site.rater())
    before = site.content()
    sent = client.get(site.rater(), headers={name: attack})
    assert (sent.status_code, sent.text) == (200, wanted.text)
    assert attack not in str(sent.headers)
    assert site.content() == before


def test_hostile_texts_are_only_ever_text(everything: Site) -> None:
    site, client = everything, everything.visitor()
    pages = [client.get("/").text, client.get(f"/join/{site.links.join}").text, client.get(site.rater()).text]
    page = begin(client, site.rater())
    while "answer" in forms(page):
        pages.append(page)
        page = answer(client, page, "2")
    pages += [page, client.get(f"/admin/{site.links.admin}").text]
    assert len(pages) == 5 + len(ITEMS)
    for shown in pages:
        assert "alert" not in re.sub(r">[^<]*<", "><", shown)
        assert re.findall(r"<script(?![^>]* src=\"/static/)", shown) == []
        assert "style=" not in shown
        # A product that no clock and no count shows by chance: nobody has worked out the text.
        assert "62615533" not in html.unescape(shown)


def test_the_source_is_nowhere_to_be_seen(everything: Site) -> None:
    site, client = everything, everything.visitor()
    page, seen = begin(client, site.rater()), []
    while "answer" in forms(page):
        seen.append(page)
        page = answer(client, page, "2")
    assert len(seen) == len(ITEMS)
    for shown in (*seen, page, client.get(site.rater()).text):
        for secret in (SOURCE, "human", "log_prob", "-1.25", "expected", "source", *(f'"{item.id}"' for item in ITEMS)):
            assert secret not in shown
    # Attention checks look like everything else: the forms differ in the number of the text alone.
    shapes = {tuple(sorted(forms(shown)["answer"].fields)) for shown in seen}
    assert shapes == {("key", "task")}


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/....//app.py",
        "/static/..\\app.py",
        "/static//etc/passwd",
        "/static/item.html.j2",
        "/static/survey.css%00.html",
        "/static/survey.css/",
        "/static/",
        "/r/../admin/x",
        "/.git/config",
        "/etc/passwd",
        "//evil.example/",
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_paths_lead_to_no_file(site: Site, client: TestClient, path: str) -> None:
    assert refusal(client.get(f"{HOME}{path}"), site) == (404, [])


@pytest.mark.usefixtures("unchanged")
def test_what_is_too_large_is_refused(site: Site, client: TestClient) -> None:
    sent = client.post(f"{site.rater()}/answer", content=b"x" * (MOST_BODY + 1), headers=FORM)
    assert refusal(sent, site) == (413, [])
    assert refusal(client.get(f"/r/{'x' * 600}"), site) == (414, [])
    assert refusal(client.get(f"{site.rater()}?{'x' * 600}"), site) == (414, [])
    assert refusal(client.get("/", headers={"x-long": "x" * 20_000}), site) == (431, [])


@pytest.mark.usefixtures("unchanged")
def test_a_large_body_in_pieces_is_not_read_to_its_end(site: Site) -> None:
    read: list[int] = []
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        read.append(4096)
        return {"type": "http.request", "body": b"x" * 4096, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/x-www-form-urlencoded")]
    path = f"{site.rater()}/answer"
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers, "client": None}
    asyncio.run(make_app(site.store)(scope, receive, send))
    assert sent[0]["status"] == 413
    assert sum(read) <= MOST_BODY + 4096


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "localhost/x",
        "",
        "[::1",
        SCRIPT,
        "0.0.0.0",
        "192.0.2.1",
    ],
)
def test_other_names_in_the_host_header_are_refused(site: Site, client: TestClient, host: str) -> None:
    assert refusal(client.get(site.rater(), headers={"host": host}), site) == (400, [])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000"])
def test_loopback_names_are_known(site: Site, client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(("host", "code"), [("192.0.2.1:8000", 200), ("[2001:db8::1]", 200), ("evil.example", 400)])
def test_where_all_addresses_are_served_a_number_will_do_but_no_name(site: Site, host: str, code: int) -> None:
    client = TestClient(make_app(site.store, hosts=["0.0.0.0"]), base_url=HOME)
    assert client.get("/", headers={"host": host}).status_code == code


def test_every_answer_carries_the_security_headers(site: Site, client: TestClient) -> None:
    answers = [
        client.get("/"),
        client.get(site.rater()),
        client.get(f"/admin/{site.links.admin}"),
        client.get(f"/admin/{site.links.admin}/data"),
        client.get(f"/admin/{site.links.admin}/ratings.csv"),
        client.get("/nothing"),
        client.get("/", headers={"host": "evil.example"}),
        client.put("/"),
        join(client, f"/join/{site.links.join}"),
        client.get("/health"),
    ]
    assert [sent.status_code for sent in answers] == [200, 200, 200, 200, 200, 404, 400, 405, 303, 200]
    for sent in answers:
        policy = dict(part.strip().split(" ", 1) for part in sent.headers["content-security-policy"].split(";"))
        assert policy == {
            "default-src": "'none'",
            "style-src": "'self'",
            "script-src": "'self'",
            "img-src": "'self'",
            "connect-src": "'self'",
            "form-action": "'self'",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
        }
        assert sent.headers["x-content-type-options"] == "nosniff"
        assert sent.headers["referrer-policy"] == "no-referrer"
        assert sent.headers["cache-control"] == "no-store"
        assert sent.headers["x-robots-tag"].startswith("noindex")
        assert sent.headers["cross-origin-opener-policy"] == "same-origin"
        assert sent.headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in sent.headers["permissions-policy"]


def test_the_icon_of_the_page_is_our_own(site: Site, client: TestClient) -> None:
    (icon,) = re.findall(r'<link rel="icon" href="([^"]+)"', client.get(site.rater()).text)
    sent = client.get(icon)
    assert (sent.status_code, sent.headers["content-type"]) == (200, "image/svg+xml")
    assert "immutable" in sent.headers["cache-control"]
    # Nothing in it acts or loads anything; the one address names what language it is in.
    assert re.findall(r"https?:[^\"]*", sent.text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"script|href|style|on\w+=", sent.text)


def test_pages_ask_nobody_else_for_anything(site: Site, client: TestClient) -> None:
    for path in ("/", f"/join/{site.links.join}", f"/admin/{site.links.admin}"):
        assert re.findall(r"(?:src|href|action)=\"(?!/)[^\"]*", client.get(path).text) == []
    css, script = (client.get(f"/static/survey.{kind}").text for kind in ("css", "js"))
    assert not re.search(r"https?:|//[a-z]|url\(|@import", css)
    assert not re.search(r"https?:|eval|innerHTML", script)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_do_nothing(site: Site, client: TestClient, method: str) -> None:
    for path in (site.rater(), f"/admin/{site.links.admin}", f"/join/{site.links.join}", f"{site.rater()}/answer"):
        assert refusal(client.request(method, path), site) == (405, [])


def test_a_fault_of_ours_tells_no_story(
    site: Site, client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError(f"{site.path} is on fire, {site.links.raters[0]}")

    monkeypatch.setattr(site.store, "task", broken)
    sent = client.get(site.rater(), params={"now": "start"})
    assert refusal(sent, site) == (500, [])
    assert "Something went wrong" in sent.text
    assert sent.headers["cache-control"] == "no-store"
    assert [record.getMessage() for record in caplog.records if record.name == "textassay.survey"] == [
        "a request failed"
    ]
