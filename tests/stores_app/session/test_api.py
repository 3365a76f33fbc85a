"""Appending messages over HTTP and reading them back."""

import gzip
import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import zstandard
from django.db import connection

from sessions_app.hierarchy.models import Session
from sessions_app.wire.authentication import ApiKeyBearer
from sessions_app.wire.times import now_ms
from stores_app.session.models import Message
from tests.api_client import Caller, assert_problem, new_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def runner() -> Caller:
    ApiKeyBearer.forget_everything()
    return Caller(new_tenant())


@pytest.fixture
def path(runner: Caller) -> str:
    return f"/sessions/{runner.session()['id']}/messages"


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **fields}


def stored(runner: Caller, path: str) -> list[dict[str, Any]]:
    return list(runner.found(path, limit=500)["items"])


def test_an_appended_message_is_read_back_with_its_number(runner: Caller, path: str) -> None:
    made = runner.created(path, {"message": user("Hello")})
    assert made["lastSeq"] == 1
    (item,) = stored(runner, path)
    assert (item["id"], item["seq"], item["message"]) == (made["ids"][0], 1, user("Hello"))
    assert item["sessionId"] == path.split("/")[2]
    assert item["tenantId"] == runner.tenant.public_id


def test_a_batch_keeps_its_order_and_continues_the_numbers(runner: Caller, path: str) -> None:
    runner.created(path, {"message": user("first")})
    made = runner.created(path, {"messages": [user(str(number)) for number in range(1000)]})
    assert made["lastSeq"] == 1001
    read: list[dict[str, Any]] = []
    while len(read) < 1001:
        read += runner.found(path, after=len(read), limit=400)["items"]
    assert [item["seq"] for item in read] == list(range(1, 1002))
    assert [item["message"]["content"] for item in read[1:]] == [str(number) for number in range(1000)]
    assert [item["id"] for item in read[1:]] == made["ids"]


VERBATIM = [
    rb'{"role":"user","content":"nul \u0000 lone \ud800 pair \ud83d\ude00"}',
    rb'{"role":"user","content":"x","\ud800":{"\udfff":1},"\u0000":1}',
    rb'{ "role" : "user" , "content" : "spaces stay" , "big" : 123456789012345678901234567890 , "e" : 1.50 }',
    '{"content":"line \u2028 separators \u0085 and ‮bidi‬","role":"assistant","vendor":{"b":1,"a":2,"a":3}}'.encode(),
    b'{"role":"tool","content":null,"toolCallId":"call_1"}',
    rb'{"role":"assistant","content":null,"toolCalls":[{"id":"c\u0000","type":"function",'
    rb'"function":{"name":"f","arguments":"{not json"}}]}',
]


@pytest.mark.parametrize("raw", VERBATIM)
def test_the_text_of_a_message_is_kept_as_it_came(runner: Caller, path: str, raw: bytes) -> None:
    forms = [
        (b'{"message":' + raw + b"}", "application/json"),
        (b'{"messages":[' + raw + b" ,\n" + raw + b"]}", "application/json"),
        (raw + b"\n\r\n " + raw, "application/x-ndjson"),
    ]
    for body, content_type in forms:
        assert runner.post(path, body, content_type=content_type).status_code == 201
    assert [bytes(message.raw) for message in Message.objects.order_by("seq")] == [raw] * 5
    assert raw in runner.get(path).content


def test_what_queries_need_is_extracted(runner: Caller, path: str) -> None:
    calls = [{"id": f"call_{n}", "type": "function", "function": {"name": "f", "arguments": ""}} for n in (1, 2)]
    runner.created(path, {"message": {"role": "assistant", "content": None, "toolCalls": calls}})
    runner.created(path, {"message": {"role": "tool", "content": "ok", "toolCallId": "call_2"}})
    runner.created(path, {"messages": [user(" \n  Fix\tthe   cart \nplease"), user("second")]})
    assert list(Message.objects.order_by("seq").values_list("role", "call_ids", "tool_call_id")) == [
        ("assistant", ["call_1", "call_2"], None), ("tool", None, "call_2"), ("user", None, None), ("user", None, None),
    ]  # fmt: skip
    session = Session.objects.get()
    assert (session.first_user_line, session.last_seq) == ("Fix the cart", 4)
    assert session.last_message_at == Message.objects.get(seq=4).at


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"message": user("x"), "messages": [user("x")]}, "body"),
        ({}, "body"),
        ({"message": user("x"), "zzz": 1}, "body.zzz"),
        ({"messages": []}, "body.messages"),
        ({"messages": {}}, "body.messages"),
        ({"messages": [user("x")] * 1001}, "body.messages"),
        ({"message": user("x"), "actor": 5}, "body.actor"),
        ({"message": "x"}, "message"),
        ({"message": {"content": "x"}}, "message"),
        ({"message": {"role": "robot", "content": "x"}}, "message.role"),
        ({"message": {"role": "user"}}, "message"),
        ({"message": {"role": "user", "content": 5}}, "message.content"),
        ({"message": {"role": "user", "content": "x", "toolCalls": [{}]}}, "message.toolCalls[0]"),
        ({"message": {"role": "user", "content": "x", "toolCallId": 7}}, "message.toolCallId"),
        ({"messages": [user("x"), {"role": "user", "content": []}]}, "messages[1].content"),
        ({"messages": [user("x"), {"role": "user", "content": "\ud800", "timestamp": "x"}]}, "messages[1].timestamp"),
    ],
)
def test_a_body_that_does_not_fit_keeps_nothing_and_says_where(
    runner: Caller, path: str, body: Any, place: str
) -> None:
    response = runner.post(path, body)
    details = assert_problem(response, 422, response.json()["code"])
    assert details["places"][0]["in"] == place
    assert not Message.objects.exists()
    assert Session.objects.get().last_seq == 0


@pytest.mark.parametrize("body", [b"\n\n", b"{}\n" * 1001, b"\n" * 100_000])
def test_no_lines_or_too_many_are_refused(runner: Caller, path: str, body: bytes) -> None:
    assert_problem(runner.post(path, body, content_type="application/x-ndjson"), 422, "invalid_request")


def test_a_bad_line_is_named(runner: Caller, path: str) -> None:
    lines = b'{"role":"user","content":"x"}\n{"role":"user"\n'
    response = runner.post(path, lines, content_type="application/x-ndjson")
    assert_problem(response, 400, "malformed_body")
    assert not Message.objects.exists()


def test_somebody_elses_session_is_not_written_to(runner: Caller) -> None:
    path = f"/sessions/{runner.session(currentActor=runner.user('usr_ada'))['id']}/messages"
    body = {"message": user("x")}
    assert_problem(runner.post(path, body), 403, "not_current_owner")
    assert_problem(runner.post(path, {**body, "actor": runner.user("usr_bob")}), 403, "not_current_owner")
    runner.created(path, {**body, "actor": runner.user("usr_ada")})
    bound = Caller(runner.tenant, actor=runner.user("usr_bob"))
    assert_problem(bound.post(path, {**body, "actor": runner.user("usr_ada")}), 403, "not_current_owner")
    owner = Caller(runner.tenant, actor={**runner.user("usr_ada"), "note": "kind and id decide"})
    owner.created(path, {"messages": [user("x"), user("y")]})


@pytest.mark.parametrize("count", [1, 2])
def test_a_sealed_session_is_read_and_not_written_to(runner: Caller, path: str, count: int) -> None:
    runner.created(path, {"message": user("before")})
    Session.objects.update(sealed_at=now_ms())
    assert_problem(runner.post(path, {"messages": [user("after")] * count}), 409, "session_archived")
    assert len(stored(runner, path)) == 1


def test_unknown_and_foreign_sessions_are_the_same(runner: Caller) -> None:
    theirs = Caller(new_tenant("Globex")).session()["id"]
    for session_id in (theirs, "ses_none", "a%00b"):
        assert_problem(runner.post(f"/sessions/{session_id}/messages", {"message": user("x")}), 404, "not_found")
    assert not Message.objects.exists()


def test_pages_follow_by_cursor_and_by_number(runner: Caller, path: str) -> None:
    runner.created(path, {"messages": [user(str(number)) for number in range(5)]})
    first = runner.found(path, limit=2)
    second = runner.found(path, limit=2, cursor=first["nextCursor"])
    last = runner.found(path, after=4, limit=2)
    assert [[item["seq"] for item in page["items"]] for page in (first, second, last)] == [[1, 2], [3, 4], [5]]
    assert last["nextCursor"] is None
    assert runner.found(path, after=2**63 - 1)["items"] == []


def test_the_hot_paths_use_prepared_statements(runner: Caller, path: str) -> None:
    for _ in range(2):
        runner.created(path, {"message": user("x")})
        runner.created(path, {"messages": [user("x"), user("y")]})
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        prepared = [row[0] for row in cursor.fetchall()]
    assert any("INSERT INTO stores_app_message" in statement for statement in prepared)
    assert any(statement.strip().startswith("UPDATE sessions_app_session") for statement in prepared)


def test_the_same_queries_at_ten_and_at_ten_thousand_messages(
    runner: Caller, path: str, django_assert_num_queries: Callable[..., Any]
) -> None:
    for size in (10, 10_000):
        while Session.objects.get().last_seq < size:
            runner.created(path, {"messages": [user("x")] * min(1000, size - Session.objects.get().last_seq)})
        runner.found(path)
        with django_assert_num_queries(2):
            assert len(runner.found(path, after=size - 5)["items"]) == 5


@pytest.mark.django_db(transaction=True)
def test_writers_that_race_leave_no_gap_and_lose_nothing(runner: Caller, path: str) -> None:
    acknowledged: list[tuple[int, list[str]]] = []

    def write(number: int) -> None:
        caller = Caller(runner.tenant)
        for round_ in range(10):
            body = {"messages": [user(f"{number}.{round_}.{n}") for n in range(1 + number % 3)]}
            made = caller.created(path, body)
            acknowledged.append((made["lastSeq"], made["ids"]))
        connection.close()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    items = stored(runner, path)
    assert [item["seq"] for item in items] == list(range(1, len(items) + 1))
    by_seq = {item["seq"]: item["id"] for item in items}
    for last_seq, ids in acknowledged:
        assert [by_seq[last_seq - len(ids) + 1 + place] for place in range(len(ids))] == ids
    assert len(items) == sum(len(ids) for _, ids in acknowledged)


def test_times_are_of_the_append(runner: Caller, path: str) -> None:
    before = now_ms()
    runner.created(path, {"message": user("x", timestamp=5)})
    assert before <= Message.objects.get().at <= now_ms() + timedelta(milliseconds=1)


BODY = json.dumps({"message": user("packed")}).encode()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(BODY)),
        ("GZIP", gzip.compress(BODY[:9]) + gzip.compress(BODY[9:])),
        ("zstd", zstandard.compress(BODY)),
        ("zstd", zstandard.compress(BODY[:9]) + zstandard.compress(BODY[9:])),
        ("zstd", zstandard.ZstdCompressor(write_content_size=False).compress(BODY)),
    ],
    ids=["gzip", "gzip-members", "zstd", "zstd-frames", "zstd-no-size"],
)
def test_a_packed_body_is_unpacked(runner: Caller, path: str, encoding: str, packed: bytes) -> None:
    assert runner.post(path, packed, **{"Content-Encoding": encoding}).status_code == 201
    assert stored(runner, path)[0]["message"] == user("packed")


@pytest.mark.parametrize(
    ("encoding", "packed", "status", "code"),
    [
        ("gzip", b"not gzip", 400, "malformed_body"),
        ("gzip", gzip.compress(BODY)[:-9], 400, "malformed_body"),
        ("gzip", gzip.compress(BODY) + b"rest", 400, "malformed_body"),
        ("zstd", b"not zstd", 400, "malformed_body"),
        ("zstd", zstandard.compress(BODY)[:-3], 400, "malformed_body"),
        ("zstd", zstandard.compress(BODY) + b"rest", 400, "malformed_body"),
        ("br", BODY, 415, "unsupported_media_type"),
        ("gzip, gzip", BODY, 415, "unsupported_media_type"),
        ("gzip", gzip.compress(b" " * 200_000), 413, "body_too_large"),
        ("zstd", zstandard.compress(b" " * 200_000), 413, "body_too_large"),
        ("zstd", zstandard.compress(b" " * 50_000_000, 19), 413, "body_too_large"),
        ("gzip", gzip.compress(b"") * 80_000, 400, "malformed_body"),
        ("zstd", zstandard.compress(b"") * 80_000, 400, "malformed_body"),
    ],
    ids=["gzip-none", "gzip-cut", "gzip-rest", "zstd-none", "zstd-cut", "zstd-rest", "br", "twice", "gzip-large",
         "zstd-large", "zstd-bomb", "gzip-members", "zstd-frames"],
)  # fmt: skip
def test_a_packed_body_that_cannot_be_read_is_refused(
    runner: Caller, path: str, settings: Any, encoding: str, packed: bytes, status: int, code: str
) -> None:
    settings.MAX_BODY_BYTES = max(100_000, len(packed))
    assert_problem(runner.post(path, packed, **{"Content-Encoding": encoding}), status, code)
    assert not Message.objects.exists()


def test_blank_lines_say_nothing_however_many(runner: Caller, path: str) -> None:
    line = json.dumps(user("x")).encode()
    body = b"\n" * 3_000 + line + b"\r\n \n" * 3_000 + line
    assert runner.post(path, body, content_type="application/x-ndjson").json()["lastSeq"] == 2
