"""What the front does itself is what the API does, and waiting holds nothing."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import httpx
import psycopg
import pytest
from django.db import connection

from namzu_site.front import bridge
from namzu_site.front.front import Front
from sessions_app.access.models import ApiKey
from sessions_app.access.rules import Scope
from sessions_app.hierarchy.models import Session
from sessions_app.wire.authentication import ApiKeyBearer
from sessions_app.wire.times import now_ms
from stores_app.session.models import Message
from tests.api_client import Caller, new_tenant

Run = Callable[[Caller, Callable[[httpx.AsyncClient, Front], Any]], Any]

SAME = {"content-type", "vary", "x-content-type-options", "cache-control", "content-length"}


def message(text: str = "x", **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "content": text}, **fields}


async def in_thread(work: Callable[[], object]) -> None:
    """The work on the database is done, and its connection closed."""

    def run() -> None:
        work()
        connection.close()

    await asyncio.to_thread(run)


def count_direct(front: Front, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Filled with what the way without a thread answered, None where it left the call to the API."""
    answers: list[Any] = []
    original = front.appends.answer

    async def answer(*args: Any) -> Any:
        answers.append(await original(*args))
        return answers[-1]

    monkeypatch.setattr(front.appends, "answer", answer)
    return answers


def test_an_append_without_a_thread_answers_as_the_api_does(
    caller: Caller, through_front: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        direct = count_direct(front, monkeypatch)
        ApiKeyBearer.forget_everything()
        by_api = await client.post(path, json=message())  # whose key is not known yet
        by_front = await client.post(path, json=message())
        assert [answer is not None for answer in direct] == [False, True]
        assert (by_api.status_code, by_front.status_code) == (201, 201)
        assert by_front.json() | {"ids": []} == {"ids": [], "lastSeq": 2}
        assert {name: by_front.headers[name] for name in SAME} == {name: by_api.headers[name] for name in SAME}

    through_front(caller, script)
    rows = list(Message.objects.order_by("seq").values("role", "raw", "written_by", "tenant_id"))
    assert rows[0] == rows[1]
    assert Session.objects.get().first_user_line == "x"


LEFT_TO_THE_API: list[tuple[dict[str, Any], int]] = [
    ({"json": {"messages": [message()["message"]]}}, 201),
    ({"json": {"message": {"role": "robot", "content": "x"}}}, 422),
    ({"json": {"message": {"role": "user", "content": "x"}, "zzz": 1}}, 422),
    ({"content": b"{", "headers": {"content-type": "application/json"}}, 400),
    ({"content": b'{"message":' + b"[" * 100, "headers": {"content-type": "application/json"}}, 400),
    ({"content": b"\xff", "headers": {"content-type": "application/json"}}, 400),
    ({"content": b'{"role":"user","content":"x"}', "headers": {"content-type": "application/x-ndjson"}}, 201),
    ({"content": b"x", "headers": {"content-type": "text/plain"}}, 415),
    ({"content": b"", "headers": {"content-type": "application/json"}}, 400),
    ({"json": message("y" * 100_000)}, 201),
    ({"json": message(), "headers": {"idempotency-key": "x" * 300}}, 422),
]


@pytest.mark.parametrize("index", range(len(LEFT_TO_THE_API)))
def test_whatever_is_not_a_plain_append_is_answered_by_the_api(
    caller: Caller, through_front: Run, monkeypatch: pytest.MonkeyPatch, index: int
) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"
    request, status = LEFT_TO_THE_API[index]

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        await client.post(path, json=message())
        direct = count_direct(front, monkeypatch)
        assert (await client.post(path, **request)).status_code == status
        assert not any(direct)

    through_front(caller, script)


def test_what_the_database_refuses_is_explained_by_the_api(caller: Caller, through_front: Run) -> None:
    session = caller.session()["id"]
    owned = caller.session(currentActor=caller.user())["id"]
    theirs = Caller(new_tenant("Globex")).session()["id"]

    async def script(client: httpx.AsyncClient, front: Front) -> list[tuple[int, str]]:
        await client.post(f"/sessions/{session}/messages", json=message())
        await in_thread(lambda: Session.objects.filter(public_id=session).update(sealed_at=now_ms()))
        answers = [await client.post(f"/sessions/{target}/messages", json=message())
                   for target in (session, owned, theirs, "ses_none", "a b")]  # fmt: skip
        return [(answer.status_code, answer.json()["code"]) for answer in answers]

    assert through_front(caller, script) == [
        (409, "session_archived"),
        (403, "not_current_owner"),
        *[(404, "not_found")] * 3,
    ]


def test_a_key_of_little_scope_or_of_another_tenant_does_not_slip_through(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"
    reader, stranger = Caller(caller.tenant, Scope.READ), Caller(new_tenant("Globex"))

    async def script(client: httpx.AsyncClient, front: Front) -> list[int]:
        statuses = []
        for other in (reader, stranger):
            headers = {"Authorization": f"Bearer {other.token}"}
            own = f"http://localhost{other.base}/sessions"
            assert (await client.get(own, headers=headers)).status_code == 200  # known from here on
            statuses.append((await client.post(path, json=message(), headers=headers)).status_code)
        return statuses

    assert through_front(caller, script) == [403, 404]
    assert not Message.objects.exists()


def test_a_revoked_key_is_refused_once_it_is_forgotten(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> list[int]:
        await client.post(path, json=message())
        await in_thread(lambda: ApiKey.objects.update(revoked_at=now_ms()))
        ApiKeyBearer.forget_everything()
        return [(await client.post(path, json=message())).status_code for _ in range(2)]

    assert through_front(caller, script) == [401, 401]


def test_a_repeated_append_is_made_once(caller: Caller, through_front: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        await client.post(path, json=message())
        direct = count_direct(front, monkeypatch)
        key = {"Idempotency-Key": "key-1"}
        first = await client.post(path, json=message("keyed"), headers=key)
        again = await asyncio.gather(*(client.post(path, json=message("keyed"), headers=key) for _ in range(5)))
        other = await client.post(path, json=message("other"), headers=key)
        assert direct[0] is not None
        assert {(answer.status_code, answer.content) for answer in (first, *again)} == {(201, first.content)}
        assert {answer.headers["idempotent-replay"] for answer in again} == {"true"}
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")

    through_front(caller, script)
    assert Message.objects.count() == 2


WAITING = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def test_a_connection_lost_in_the_middle_is_said_and_not_tried_again(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> list[int]:
        await client.post(path, json=message())
        async with await psycopg.AsyncConnection.connect(**front.appends._parameters) as holder:
            await holder.execute("SELECT 1 FROM sessions_app_session FOR UPDATE")
            lost = asyncio.ensure_future(client.post(path, json=message()))
            while (await holder.execute(WAITING)).rowcount == 0:
                await asyncio.sleep(0.01)
            statuses = [(await lost).status_code]
        return [*statuses, (await client.post(path, json=message())).status_code]

    assert through_front(caller, script) == [503, 201]


def test_connections_that_the_server_closed_are_replaced_unnoticed(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> list[int]:
        await client.get(path)
        await client.post(path, json=message())
        await in_thread(lambda: terminate_the_others())
        statuses = [(await client.post(path, json=message())).status_code for _ in range(4)]
        batch = {"messages": [message()["message"]] * 2}
        return statuses + [(await client.post(path, json=batch)).status_code for _ in range(4)]

    connection.close()  # the test's own is not to be cut
    assert through_front(caller, script) == [201] * 8


def terminate_the_others() -> None:
    """All other connections of this database are cut, and their servers gone."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_terminate_backend(pid) {others}")
        cursor.execute(f"SELECT pid {others}")
        while cursor.fetchone() is not None:
            cursor.execute(f"SELECT pid {others}")


def test_a_body_that_does_not_come_is_not_waited_for(
    caller: Caller, through_front: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge, "PATIENCE_SECONDS", 0.05)
    sent: list[Any] = []

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        async def receive() -> dict[str, Any]:
            if sent:
                await asyncio.Event().wait()
            sent.append("the beginning")
            return {"type": "http.request", "body": b"x", "more_body": True}

        async def send(answer: Any) -> None:
            sent.append(answer)

        head = {"type": "http", "method": "POST", "path": "/sign-in/", "headers": [(b"content-length", b"1000")]}
        await front(head, receive, send)

    through_front(caller, script)
    assert sent[1]["status"] == 408


def test_a_read_waits_for_the_message_that_comes(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        began = time.monotonic()
        waiting = [asyncio.ensure_future(client.get(path, params={"waitSeconds": 30})) for _ in range(40)]
        while len(front.news._waiters) == 0 or sum(map(len, front.news._waiters.values())) < 40:
            await asyncio.sleep(0.01)
        assert (await client.get("http://localhost/healthz")).status_code == 200  # two threads, forty who wait
        await client.post(path, json=message("news"))
        answers = await asyncio.gather(*waiting)
        assert {answer.json()["items"][0]["message"]["content"] for answer in answers} == {"news"}
        assert time.monotonic() - began < 20
        assert not front.news._waiters

    through_front(caller, script)


def write_untold() -> None:
    """A message, as a command in another process writes it."""
    session = Session.objects.get()
    Message.objects.create(
        session=session, tenant_id=session.tenant_id, seq=1, public_id="msg_1", role="user", at=now_ms(),
        raw=b'{"role":"user","content":"x"}', written_by="command:import_state",
    )  # fmt: skip
    Session.objects.update(last_seq=1)


def test_what_nobody_tells_is_seen_all_the_same(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        waiting = asyncio.ensure_future(client.get(path, params={"waitSeconds": 30}))
        while not front.news._waiters:
            await asyncio.sleep(0.01)
        await in_thread(write_untold)
        assert [item["seq"] for item in (await waiting).json()["items"]] == [1]

    through_front(caller, script)


def test_a_wait_ends_empty_when_its_time_is_over_or_the_front_stops(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"

    async def script(client: httpx.AsyncClient, front: Front) -> list[Any]:
        over = await client.get(path, params={"waitSeconds": 1})
        waiting = asyncio.ensure_future(client.get(path, params={"waitSeconds": 30}))
        while not front.news._waiters:
            await asyncio.sleep(0.01)
        await front.news.stop()
        return [over.json(), (await waiting).json()]

    assert through_front(caller, script) == [{"items": [], "nextCursor": None}] * 2


def test_a_waiter_that_goes_is_forgotten(caller: Caller, through_front: Run) -> None:
    session = Session.objects.get(public_id=caller.session()["id"])

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        async def gone() -> dict[str, str]:
            while not front.news._waiters:
                await asyncio.sleep(0.01)
            return {"type": "http.disconnect"}

        with pytest.raises(ConnectionResetError):
            await front._wait(session.pk, 0, 30, gone)
        assert not front.news._waiters

    through_front(caller, script)


@pytest.mark.parametrize(("seconds", "status"), [(31, 422), (-1, 422), ("x", 422), (0, 200)])
def test_a_wait_has_a_limit(caller: Caller, seconds: Any, status: int) -> None:
    assert caller.get(f"/sessions/{caller.session()['id']}/messages", waitSeconds=seconds).status_code == status


def test_a_large_body_and_a_large_answer_come_through(caller: Caller, through_front: Run) -> None:
    path = f"/sessions/{caller.session()['id']}/messages"
    large = "x" * 3_000_000

    async def script(client: httpx.AsyncClient, front: Front) -> None:
        assert (await client.post(path, json=message(large))).status_code == 201
        read = await client.get(path, headers={"Accept-Encoding": "identity"})
        assert read.json()["items"][0]["message"]["content"] == large
        refused = await client.post(path, content=b" " * 17_000_000, headers={"content-type": "application/json"})
        assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")
        static = await client.get("http://localhost/static/ninja/swagger-ui-bundle.js")
        assert (static.status_code, len(static.content)) == (200, int(static.headers["content-length"]))

    through_front(caller, script)
