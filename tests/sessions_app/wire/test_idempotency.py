"""A call that is repeated with its key changes nothing twice."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from sessions_app.hierarchy.models import Project, Session
from sessions_app.wire import idempotency
from sessions_app.wire.models import StoredAnswer
from sessions_app.wire.times import now_ms
from stores_app.session.models import Message
from tests.api_client import Answer, Caller, assert_problem, new_tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller() -> Caller:
    return Caller(new_tenant())


def message(text: str) -> dict[str, Any]:
    return {"message": {"role": "user", "content": text}}


def post(caller: Caller, path: str, body: Any, key: str = "key-1") -> Answer:
    return caller.post(path, body, **{"Idempotency-Key": key})


def paths(caller: Caller) -> list[tuple[str, Any, Any]]:
    """Every form of POST: its path, its body, and another body."""
    session = caller.session()
    owned = {"kind": "agent_spawn", "spawnedBy": caller.user(), "child": {"currentActor": None}}
    messages = f"/sessions/{session['id']}/messages"
    return [
        ("/projects", {"name": "x"}, {"name": "y"}),
        ("/sessions", {"projectId": session["projectId"], "currentActor": None},
         {"projectId": session["projectId"], "currentActor": None, "label": "other"}),
        ("/sub-sessions", {"parentSessionId": session["id"], **owned},
         {"parentSessionId": session["id"], **owned, "failureMode": "fail_fast"}),
        (messages, message("x"), message("y")),
        (messages, {"messages": [message("x")["message"]] * 2}, {"messages": [message("x")["message"]] * 3}),
    ]  # fmt: skip


def count_all() -> list[int]:
    return [model.objects.count() for model in (Project, Session, Message)]


def test_the_stored_answer_comes_again_and_nothing_is_done_twice(caller: Caller) -> None:
    for number, (path, body, other) in enumerate(paths(caller)):
        key = f"key-{number}"
        first = post(caller, path, body, key)
        assert first.status_code == 201
        assert "Idempotent-Replay" not in first
        counts = count_all()
        again = post(caller, path, body, key)
        assert (again.status_code, again.content, again["Idempotent-Replay"]) == (201, first.content, "true")
        assert_problem(post(caller, path, other, key), 409, "idempotency_mismatch")
        assert count_all() == counts


def test_a_key_counts_for_one_credential_method_and_path(caller: Caller) -> None:
    session, other = caller.session()["id"], caller.session()["id"]
    post(caller, f"/sessions/{session}/messages", message("x"))
    assert "Idempotent-Replay" not in post(caller, f"/sessions/{other}/messages", message("x"))
    assert "Idempotent-Replay" not in post(Caller(caller.tenant), f"/sessions/{session}/messages", message("x"))
    assert Message.objects.count() == 3


def test_a_refusal_is_not_stored(caller: Caller) -> None:
    session = caller.session()["id"]
    Session.objects.update(sealed_at=now_ms())
    for body in (message("x"), {"messages": [message("x")["message"]] * 2}):
        assert_problem(post(caller, f"/sessions/{session}/messages", body), 409, "session_archived")
    assert_problem(post(caller, "/projects", {"name": ""}), 422, "invalid_request")
    assert not StoredAnswer.objects.exists()
    Session.objects.update(sealed_at=None)
    assert post(caller, f"/sessions/{session}/messages", message("x")).status_code == 201


@pytest.mark.parametrize("index", range(5))
def test_a_key_is_free_again_after_a_day(caller: Caller, index: int) -> None:
    path, body, other = paths(caller)[index]
    post(caller, path, body)
    StoredAnswer.objects.update(created_at=now_ms() - timedelta(hours=25))
    counts = count_all()
    fresh = post(caller, path, other)
    assert fresh.status_code == 201
    assert "Idempotent-Replay" not in fresh
    assert count_all() != counts


def test_expired_answers_are_removed_in_batches(caller: Caller) -> None:
    for number in range(5):
        post(caller, "/projects", {"name": "x"}, f"key-{number}")
    StoredAnswer.objects.filter(pk__in=StoredAnswer.objects.values("pk")[:3]).update(
        created_at=now_ms() - timedelta(hours=25)
    )
    assert idempotency.forget_expired(now=now_ms(), batch=2) == 2
    assert idempotency.forget_expired(now=now_ms(), batch=2) == 1
    assert StoredAnswer.objects.count() == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_key_that_is_no_key_is_refused(caller: Caller, key: str) -> None:
    details = assert_problem(post(caller, "/projects", {"name": "x"}, key), 422, "invalid_request")
    assert details["places"][0]["in"] == "header.Idempotency-Key"


@pytest.mark.parametrize("index", range(5))
def test_calls_with_one_key_that_race_do_it_once(caller: Caller, index: int) -> None:
    path, body, _ = paths(caller)[index]
    before = count_all()
    answers: list[Answer] = []

    def call() -> None:
        answers.append(post(caller, path, body))
        connection.close()

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    assert sum("Idempotent-Replay" not in answer for answer in answers) == 1
    made = [after - then for after, then in zip(count_all(), before, strict=True)]
    assert sum(made) == (2 if index == 4 else 1)


@pytest.mark.parametrize("index", [0, 3, 4])
def test_a_retry_that_waits_too_long_is_told_so(caller: Caller, index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path, body, _ = paths(caller)[index]
    post(caller, path, body)
    digest = StoredAnswer.objects.get().pk
    StoredAnswer.objects.all().delete()
    answers: list[Answer] = []
    monkeypatch.setattr(idempotency, "_CLAIM", idempotency._CLAIM.replace("'5000'", "'200'"))
    monkeypatch.setattr("stores_app.session.actions._APPEND_ONE_KEYED", _impatient())

    def call() -> None:
        answers.append(post(caller, path, body))
        connection.close()

    with transaction.atomic():  # the first call, whose answer is written and not committed yet
        StoredAnswer.objects.create(pk=digest, body_sha256=b"", status=201, answer=b"", created_at=now_ms())
        retry = threading.Thread(target=call)
        retry.start()
        retry.join()
        transaction.set_rollback(True)
    assert_problem(answers[0], 409, "idempotency_in_progress")
    assert post(caller, path, body).status_code == 201


def _impatient() -> str:
    from stores_app.session import actions

    return actions._APPEND_ONE_KEYED.replace("'5000'", "'200'")
