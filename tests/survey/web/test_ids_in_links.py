"""Ids of Prolific and Mechanical Turk in links, consent, the closed link, and changes by the admin."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from tests.survey.conftest import STUDY, Site
from tests.survey.web.forms import TestClient, answer, begin, forms, heading, join, status
from textassay.survey.model import Participant

PID = "5e9b9c9ff1f1f1f1f1f1f1f1"
PROLIFIC = {"PROLIFIC_PID": PID, "STUDY_ID": "study-7", "SESSION_ID": "session_8"}
MTURK = {"workerId": "A1B2C3", "hitId": "HIT4", "assignmentId": "ASG5"}


def address(site: Site, ids: dict[str, str]) -> str:
    """The shared link with these ids."""
    return f"/join/{site.links.join}?{urlencode(ids)}"


def joined(client: TestClient, link: str) -> str:
    """Press the button of the page at this link; the address of the personal page."""
    form = forms(client.get(link).text)["form 0"]
    return client.post(form.action, data=form.fields).headers["location"]


@pytest.mark.parametrize("ids", [PROLIFIC, MTURK], ids=["prolific", "mturk"])
def test_ids_in_the_link_are_kept_and_nobody_joins_twice_with_them(site: Site, ids: dict[str, str]) -> None:
    client = site.visitor()
    assert "The id in your link is kept" in client.get(address(site, ids)).text
    personal = joined(client, address(site, ids))
    answer(client, begin(client, personal), "4")
    with site.store.snapshot() as found:
        ((_, who, complete),) = found.participants()
    assert who in (Participant("prolific", PID, "study-7", "session_8"), Participant("mturk", "A1B2C3", "HIT4", "ASG5"))
    assert not complete
    # The browser continues; another one is told where to continue, and adds nobody.
    assert joined(client, address(site, ids)) == personal
    again = site.visitor().get(address(site, ids))
    assert (again.status_code, heading(again.text)) == (409, "You have joined already")
    # Somebody else in the same browser is not taken for the first one.
    other = {name: f"{value}x" for name, value in ids.items()}
    assert joined(client, address(site, other)) != personal


@pytest.mark.parametrize("value", ["{{%PROLIFIC_PID%}}", "a" * 65, "<script>", "a b", "é", "a\x00"])
def test_an_id_that_cannot_be_one_is_refused_in_the_link_and_in_the_form(site: Site, value: str) -> None:
    client, before = site.visitor(), site.content()
    page = client.get(address(site, {"PROLIFIC_PID": value}))
    assert (page.status_code, heading(page.text)) == (400, "This link is not complete")
    assert value not in page.text
    assert join(client, f"/join/{site.links.join}", PROLIFIC_PID=value).status_code == 400
    assert site.content() == before


def test_above_a_number_of_joins_the_page_asks_for_an_id(make_site: Callable[..., Site]) -> None:
    site = make_site(replace(STUDY, proof_after=1))
    first, plain = site.visitor(), f"/join/{site.links.join}"
    assert join(first, plain).status_code == 303
    refused = site.visitor().get(plain)
    assert (refused.status_code, heading(refused.text)) == (409, "You need a link of your own")
    assert joined(site.visitor(), address(site, PROLIFIC)).startswith("/r/")
    # Who joined before continues.
    assert join(first, plain).status_code == 303


def test_who_does_not_agree_sees_no_text(make_site: Callable[..., Site]) -> None:
    site = make_site(replace(STUDY, consent="I agree <b>freely</b>."))
    client = site.visitor()
    for now in ("", "?now=start", "?now=saved"):
        page = client.get(f"{site.rater()}{now}").text
        assert "I agree &lt;b&gt;freely&lt;/b&gt;." in page
        assert set(forms(page)) == {"form 0"}
    form = forms(page)["form 0"]
    assert form.action.endswith("/consent")
    without = client.post(form.action, data={"key": form.fields["key"]})
    assert status(client.get(without.headers["location"]).text).startswith("Please agree first")
    assert client.post(form.action, data={"key": "x", "agree": "1"}).status_code == 403
    agreed = client.post(form.action, data={"key": form.fields["key"], "agree": "1"})
    assert "answer" in forms(client.get(agreed.headers["location"]).text)


def test_the_completion_link_is_shown_to_those_who_have_done_their_part(make_site: Callable[..., Site]) -> None:
    url = "https://app.prolific.com/submissions/complete?cc=C1&x=%22"
    site = make_site(replace(STUDY, ratings_wanted=1, items_per_rater=2, checks_per_rater=0, completion_url=url))
    client = site.visitor()
    page = begin(client, site.rater())
    assert "prolific" not in page
    done = answer(client, answer(client, page, "4"), "4")
    assert 'href="https://app.prolific.com/submissions/complete?cc=C1&amp;x=%22"' in done
    assert "One step is left" in done


def test_the_admin_closes_the_link_and_excludes_raters(site: Site) -> None:
    client, admin = site.visitor(), f"/admin/{site.links.admin}"
    join(client, f"/join/{site.links.join}")
    answer(client, begin(client, site.rater()), "4")
    page = client.get(admin).text
    assert "1 joined. The link is open." in page
    close = forms(page)["form 0"]
    assert client.post(close.action, data={**close.fields, "key": "x"}).status_code == 403
    assert client.post(close.action, data={"key": close.fields["key"], "link": "burn"}).status_code == 400
    assert (
        client.post(close.action, data={"key": close.fields["key"], "do": "exclude", "rater": "r9"}).status_code == 400
    )
    assert client.post(close.action, data=close.fields).headers["location"] == admin
    assert "The link is closed" in client.get(admin).text
    refused = site.visitor().get(f"/join/{site.links.join}")
    assert (refused.status_code, heading(refused.text)) == (410, "This link is closed")
    assert client.get(f"/join/{site.links.join}").status_code == 200  # who has joined continues
    out = {"key": close.fields["key"], "do": "exclude", "rater": "r001"}
    assert client.post(close.action, data=out).status_code == 303
    assert "excluded" in client.get(f"{admin}/data").text
    assert site.values() == []
    assert client.post(close.action, data={**out, "do": "include"}).status_code == 303
    assert site.values() == [4]
    # Without the link of the admin there is nothing to change.
    assert client.post("/admin/guess/change", data=close.fields).status_code == 404


def test_raters_of_an_address_that_has_given_enough_are_told_so(make_site: Callable[..., Site]) -> None:
    study = replace(STUDY, ratings_wanted=2, items_per_rater=2, checks_per_rater=0)
    site = make_site(study)
    first, second = site.visitor(), site.visitor()
    personal = [join(client, f"/join/{site.links.join}").headers["location"] for client in (first, second)]
    page = begin(first, personal[0])
    waiting = begin(second, personal[1])
    page = answer(first, answer(first, page, "4"), "4")
    assert heading(page) == "Thank you"
    sent = answer(second, waiting, "4")
    assert "takes no more answers from your network" in sent
    with site.store._readers.reading() as connection:
        assert connection.execute("SELECT max(load) FROM addresses").fetchone() == (3,)
    refused = site.visitor().get(f"/join/{site.links.join}")
    assert (refused.status_code, heading(refused.text)) == (409, "Enough answers from your network")
