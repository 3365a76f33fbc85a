"""A transcript over HTTP: windows, results with their calls, what is cached, one message in full."""

import json
import re
from collections.abc import Iterable
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.hierarchy.models import Session
from stores_app.session import article, rendering
from stores_app.session.actions import NewMessage, append_messages
from stores_app.session.models import Message, RenderedMessage
from stores_app.session.pairing import REACH
from stores_app.session.rules import read_message
from tests.factories import BY, at, make_session, make_tenant, make_user, signed_in

pytestmark = pytest.mark.django_db
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


def write(session: Session, messages: Iterable[dict[str, Any]]) -> list[str]:
    raws = [json.dumps(message).encode() for message in messages]
    return append(session, [NewMessage(raw=raw, facts=read_message(raw)) for raw in raws])


def append(session: Session, new: list[NewMessage]) -> list[str]:
    appended = append_messages(
        tenant_id=session.tenant_id,
        session_id=session.public_id,
        messages=new,
        by=BY,
        actor=session.current_actor,
        now=at(),
    )
    session.refresh_from_db()
    return appended.ids


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def calling(*ids: str) -> dict[str, Any]:
    calls = [{"id": id_, "type": "function", "function": {"name": "look", "arguments": "{}"}} for id_ in ids]
    return {"role": "assistant", "content": None, "toolCalls": calls}


def result(id_: str, text: str = "seen") -> dict[str, Any]:
    return {"role": "tool", "content": text, "toolCallId": id_}


@pytest.fixture
def session() -> Session:
    return make_session()


@pytest.fixture
def client(session: Session) -> Client:
    return signed_in(make_user(session.tenant))


def address(session: Session, rest: str = "") -> str:
    return f"/t/{session.tenant.public_id}/sessions/{session.public_id}/{rest}"


def stretch(client: Client, session: Session, query: str = "") -> str:
    response = client.get(address(session, f"transcript/?{query}"), headers=PARTIAL)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def shown(html: str) -> list[int]:
    """The numbers of the messages, in the order they stand."""
    return [int(seq) for seq in re.findall(r'<article [^>]*aria-label="[^"]*, message (\d+)"', html)]


def test_fifty_messages_at_a_time_forwards_and_backwards(client: Client, session: Session) -> None:
    write(session, (user(f"message {number}") for number in range(1, 121)))
    first = stretch(client, session)
    assert shown(first) == list(range(1, 51))
    assert "after=50" in first
    assert "before=" not in first
    assert shown(stretch(client, session, "after=50")) == list(range(51, 101))
    last = stretch(client, session, "last=1")
    assert shown(last) == list(range(71, 121))
    assert "before=71" in last
    assert "after=" not in last
    earlier = stretch(client, session, "before=71")
    assert shown(earlier) == list(range(21, 71))
    assert "after=" not in earlier


def test_a_permalink_lands_on_its_message(client: Client, session: Session) -> None:
    ids = write(session, (user(f"message {number}") for number in range(1, 121)))
    response = client.get(address(session, f"messages/{ids[79]}/"))
    assert response.status_code == 302
    assert response.headers["Location"] == address(session, f"?at={ids[79]}#{ids[79]}")
    html = client.get(response.headers["Location"]).content.decode()
    assert f'id="{ids[79]}"' in html
    assert 80 in shown(html)


def test_a_result_stands_inside_its_call_and_nowhere_else(client: Client, session: Session) -> None:
    write(session, [calling("a", "b"), result("b", "BBB"), user("then"), result("a", "AAA")])
    html = stretch(client, session)
    assert shown(html) == [1, 4, 2, 3]
    assert html.count("AAA") == html.count("BBB") == 1
    assert "<!--" not in html


def test_calls_without_results_and_results_without_calls_say_so(client: Client, session: Session) -> None:
    write(session, [calling("a"), result("x"), calling("b"), result("b"), result("b", "late")])
    html = stretch(client, session)
    assert html.count("no result") == 1
    assert html.count("The call it answers is not among the") == 1
    assert html.count("Another result for this call came first.") == 1


@pytest.mark.parametrize(
    "text",
    [
        'data-call="' + "9" * 5_000 + '"',
        '<details class="call" data-call="0"',
        "<!--state:0-->",
        "<!--result:" + "9" * 5_000,
    ],
)
def test_text_that_looks_like_a_slot_is_text(client: Client, session: Session, text: str) -> None:
    write(session, [calling("call_1"), result("call_1", text), user(text), {"role": "assistant", "content": text}])
    html = stretch(client, session)
    assert html.count('<details class="call"') == 1
    assert len(shown(html)) == 4


def test_a_permalink_to_a_result_opens_its_call(client: Client, session: Session) -> None:
    ids = write(session, [*(user("x") for _ in range(60)), calling("a"), *(user("x") for _ in range(100)), result("a")])
    html = stretch(client, session, f"at={ids[-1]}")
    assert f'id="{ids[-1]}"' in html
    assert 'data-call="0" open' in html
    assert 61 in shown(html)


def test_pairs_reach_over_pages_but_not_further_than_they_may(client: Client, session: Session) -> None:
    gap = [user("x")] * (REACH - 1)
    write(
        session, [calling("near"), *gap, result("near", "NEAR"), calling("far"), *gap, user("x"), result("far", "FAR")]
    )
    assert "NEAR" in stretch(client, session)
    assert "NEAR" not in stretch(client, session, "after=180")
    far = stretch(client, session, "last=1")
    assert "FAR" in far
    assert "is not among the" in far


def test_a_page_of_results_alone_leads_to_their_calls(client: Client, session: Session) -> None:
    ids = [f"c{number}" for number in range(120)]
    write(session, [calling(*ids), *(result(id_) for id_ in ids)])
    assert len(shown(stretch(client, session))) == 121
    html = stretch(client, session, "after=50")
    assert not shown(html)
    assert "Messages 51 to 100 are tool results" in html


def test_what_is_shown_once_is_kept(client: Client, session: Session) -> None:
    write(session, [user("one"), calling("a"), result("a")])
    first = stretch(client, session)
    assert RenderedMessage.objects.filter(session=session, renderer=rendering.RENDERER).count() == 3
    with mock.patch.object(article, "article", side_effect=AssertionError("made again")):
        assert stretch(client, session) == first


def test_what_another_renderer_made_is_made_again(client: Client, session: Session) -> None:
    write(session, [user("one")])
    RenderedMessage.objects.create(session=session, seq=1, renderer="older", html="OLD")
    assert "OLD" not in stretch(client, session)
    assert RenderedMessage.objects.get(session=session).renderer == rendering.RENDERER


@pytest.mark.django_db(transaction=True)
def test_a_database_that_takes_no_writes_still_shows_the_page(client: Client, session: Session) -> None:
    write(session, [user("one")])
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        assert shown(stretch(client, session)) == [1]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")
    assert not RenderedMessage.objects.exists()


def test_nothing_is_kept_of_a_sealed_session(client: Client, session: Session) -> None:
    write(session, [user("one")])
    Session.objects.filter(pk=session.pk).update(sealed_at=at())
    assert shown(stretch(client, session)) == [1]
    assert not RenderedMessage.objects.exists()


@pytest.mark.parametrize("query", ["", "after=1000", "last=1", "before=900", "at={id}"])
def test_a_stretch_costs_the_same_wherever_it_lies(client: Client, session: Session, query: str) -> None:
    small = make_session(session.project)
    counts = []
    for of, size in ((small, 10), (session, 2000)):
        ids = write(of, (message for n in range(size // 2) for message in (calling(f"c{n}"), result(f"c{n}"))))
        place = query.format(id=ids[len(ids) // 2 | 1])
        stretch(client, of, place)  # what is missing in the cache is made
        with CaptureQueriesContext(connection) as captured:
            stretch(client, of, place)
        counts.append(len(captured))
    assert counts[0] <= counts[1] <= 9
    if query in ("", "last=1", "at={id}"):
        assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "query",
    ["after=x", "after=-1", "after=1e3", "before=99999999999999999999", "at=msg_none", "at=%00", "at=%ff", "after=²"],
)
def test_a_window_that_is_none_is_not_found(client: Client, session: Session, query: str) -> None:
    write(session, [user("one")])
    assert client.get(address(session, f"transcript/?{query}"), headers=PARTIAL).status_code == 404
    assert client.get(address(session, f"?{query}")).status_code == 404


@pytest.mark.parametrize("rest", ["transcript/", "messages/{id}/", "messages/{id}/raw/", "messages/{id}/full/", ""])
def test_what_is_another_tenants_is_not_there(session: Session, rest: str) -> None:
    place = rest.format(id=write(session, [user("one")])[0])
    other = make_tenant()
    stranger = signed_in(make_user(other))
    assert stranger.get(address(session, place), headers=PARTIAL).status_code == 404
    borrowed = address(session, place).replace(session.tenant.public_id, other.public_id)
    assert stranger.get(borrowed, headers=PARTIAL).status_code == 404


@pytest.mark.parametrize(
    "rest", ["messages/msg_none/", "messages/msg_no/raw/", "messages/x%00/raw/", "messages/x/full/"]
)
def test_what_is_not_there_is_not_found(client: Client, session: Session, rest: str) -> None:
    assert client.get(address(session, rest)).status_code == 404


def test_outside_of_htmx_a_stretch_is_the_page(client: Client, session: Session) -> None:
    write(session, [user("one")])
    response = client.get(address(session, "transcript/?last=1"))
    assert response.headers["Location"] == address(session, "?last=1")


def test_raw_json_comes_back_byte_for_byte(client: Client, session: Session) -> None:
    raw = b'{"role":"user", "content":"<script>\\ud800\\u0000", "n":1e+21}'
    new = NewMessage(raw=raw, facts=read_message(raw))
    made = append_messages(
        tenant_id=session.tenant_id,
        session_id=session.public_id,
        messages=[new],
        by=BY,
        actor=session.current_actor,
        now=at(),
    )
    response = client.get(address(session, f"messages/{made.ids[0]}/raw/"))
    assert response.content == raw
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response.headers["Content-Security-Policy"]


def test_all_of_a_long_output_is_there_on_demand(client: Client, session: Session) -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    message = write(session, [calling("a"), result("a", text)])[1]
    assert "line 19999" not in stretch(client, session)
    full = client.get(address(session, f"messages/{message}/full/"), headers=PARTIAL).content.decode()
    assert full.startswith('<div class="output">')
    assert "line 19999" in full
    page = client.get(address(session, f"messages/{message}/full/")).content.decode()
    assert "line 19999" in page
    assert "<html" in page


def test_an_output_of_megabytes_comes_in_parts(client: Client, session: Session) -> None:
    message = write(session, [{"role": "tool", "content": "x" * 2_500_000, "toolCallId": "a"}])[0]
    place, seen = "full/", 0
    for _ in range(3):
        html = client.get(address(session, f"messages/{message}/{place}"), headers=PARTIAL).content.decode()
        seen += sum(map(len, re.findall("x{100,}", html)))
        onward = re.search(r'href="[^"]*/(full/\?from=\d+)"', html)
        place = onward[1] if onward else ""
    assert seen == 2_500_000
    assert not place


def test_arguments_in_full_are_found_by_their_call(client: Client, session: Session) -> None:
    long = json.dumps({"text": "word " * 10_000 + "END"})
    asked = calling("a")
    asked["toolCalls"][0]["function"]["arguments"] = long
    message = write(session, [asked])[0]
    assert "END" in client.get(address(session, f"messages/{message}/full/?call=0"), headers=PARTIAL).content.decode()
    assert client.get(address(session, f"messages/{message}/full/?call=1"), headers=PARTIAL).status_code == 404


def test_an_empty_session_says_so(client: Client, session: Session) -> None:
    assert "No messages yet" in client.get(address(session)).content.decode()


def test_a_record_that_is_no_message_makes_no_page_fail(client: Client, session: Session) -> None:
    write(session, [user("one")])
    Message.objects.filter(session=session).update(raw=b"\xff not a message")
    assert "could not be read" in stretch(client, session)
