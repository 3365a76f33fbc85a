"""Appending messages and reading them back (api.md, Hierarchy)."""

import re
from itertools import islice
from typing import Any

from django.http import HttpResponse
from ninja import Path, Query, Router

from sessions_app.hierarchy.errors import NotCurrentOwner, SessionArchived
from sessions_app.hierarchy.models import Session
from sessions_app.hierarchy.rules import BadActor, check_actor
from sessions_app.hierarchy.schemas import SessionPath
from sessions_app.wire.authentication import READ, RUNNER, ApiRequest
from sessions_app.wire.bodies import JSON, NDJSON, media_type
from sessions_app.wire.cursors import decode_cursor, encode_cursor
from sessions_app.wire.errors import InvalidRequest, NotFound
from sessions_app.wire.idempotency import call_key, once, once_in_statement
from sessions_app.wire.json import is_plain, read_json, slice_array, slice_object
from sessions_app.wire.schemas import Page, answer, errors, existing_id, page
from sessions_app.wire.times import now_ms
from sessions_app.wire.waiting import wait_for_news
from stores_app.session import actions
from stores_app.session.errors import InvalidMessage
from stores_app.session.models import Message
from stores_app.session.rules import read_message
from stores_app.session.schemas import (
    APPEND_BODY,
    MAX_BATCH,
    AppendedOut,
    MessageOut,
    MessagesAfter,
    message_record,
)

router = Router(tags=["Messages"])
_LINE = re.compile(rb"[^\n]+")


@router.post(
    "/sessions/{session_id}/messages",
    auth=RUNNER,
    response={201: AppendedOut},
    summary="Append messages",
    openapi_extra=errors(NotCurrentOwner, SessionArchived, InvalidMessage) | APPEND_BODY,
)
def append_messages(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """201 with the ids; all or nothing. The messages are there once this answers.

    On a session with an owner: the actor that the key is bound to or, where it is bound to none, the one named as
    `actor` has to be that owner.
    """
    session_id = existing_id("ses", "session", at.session_id)
    call = call_key(request)
    messages, actor = _read_messages(request)
    values: dict[str, Any] = {
        "tenant_id": request.tenant.pk,
        "session_id": session_id,
        "by": request.principal,
        "actor": _acting(request, actor),
        "now": now_ms(),
    }

    def append_one() -> HttpResponse:
        return _appended(actions.append_message(message=messages[0], call=call, **values))

    if len(messages) > 1:
        return once(call, lambda: _appended(actions.append_messages(messages=messages, **values)))
    return append_one() if call is None else once_in_statement(call, append_one)


def _appended(made: actions.Appended) -> HttpResponse:
    return answer(actions.appended_record(made.ids, made.last_seq), status=201)


def _read_messages(request: ApiRequest) -> tuple[list[actions.NewMessage], Any]:
    """The messages of the body, and the actor it names."""
    kind, body = media_type(request, JSON, NDJSON), request.body
    plain = is_plain(body)
    raws, actor, single = _read_lines(body) if kind == NDJSON else _read_object(body, plain)
    messages = []
    for index, raw in enumerate(raws):
        facts = read_message(raw, "message" if single else f"messages[{index}]", plain=plain)
        messages.append(actions.NewMessage(raw=raw, facts=facts))
    return messages, actor


@router.get(
    "/sessions/{session_id}/messages",
    auth=READ,
    response={200: Page[MessageOut]},
    summary="List messages",
)
def list_messages(request: ApiRequest, at: Path[SessionPath], query: Query[MessagesAfter]) -> HttpResponse:
    """The session's messages, oldest first.

    With `waitSeconds` the answer comes as soon as there is a message behind `after`, or empty when the time is over.
    """
    public_id, tenant_id = existing_id("ses", "session", at.session_id), request.tenant.public_id
    session = Session.objects.for_tenant(request.tenant.pk).filter(public_id=public_id).only("pk").first()
    if session is None:
        raise NotFound("session", public_id)
    after = decode_cursor(query.cursor, int)[0] if query.cursor else query.after
    rows = list(Message.objects.of_session(session.pk).after(after)[: query.limit + 1])
    if not rows and query.wait_seconds:
        wait_for_news(request, session.pk, after, query.wait_seconds)
    return answer(
        page(
            rows,
            query.limit,
            lambda row: message_record(row, public_id, tenant_id),
            lambda row: encode_cursor(row.seq),
        )
    )


def _read_object(body: bytes, plain: bool) -> tuple[list[bytes], Any, bool]:
    """The texts of the messages, the actor, and whether it was the form for one."""
    members = slice_object(body, plain=plain)
    unknown = members.keys() - {"message", "messages", "actor"}
    if unknown:
        raise InvalidRequest.at(f"body.{min(unknown)[:100]}", "unknown field")
    if ("message" in members) == ("messages" in members):
        raise InvalidRequest.at("body", "expected either message or messages")
    actor = read_json(members["actor"]) if "actor" in members else None
    if "message" in members:
        return [members["message"]], actor, True
    if members["messages"][:1] != b"[":
        raise InvalidRequest.at("body.messages", "expected an array")
    raws = slice_array(members["messages"], plain=plain)
    _check_count(len(raws))
    return raws, actor, False


def _read_lines(body: bytes) -> tuple[list[bytes], None, bool]:
    """The lines, split at line feeds only; empty ones say nothing."""
    lines = (match[0].strip(b" \t\r") for match in _LINE.finditer(body))
    raws = list(islice(filter(None, lines), MAX_BATCH + 1))
    _check_count(len(raws))
    return raws, None, False


def _check_count(count: int) -> None:
    if not 1 <= count <= MAX_BATCH:
        raise InvalidRequest.at("body.messages", f"expected 1 to {MAX_BATCH} messages")


def _acting(request: ApiRequest, named: Any) -> dict[str, Any] | None:
    """Who acts: the actor the key is bound to, else the one that is named (domain.md §7)."""
    if named is None:
        return request.principal.actor
    try:
        actor = check_actor(named, request.tenant.public_id)
    except BadActor as error:
        raise InvalidRequest.at("body.actor", str(error)) from None
    return request.principal.actor or actor
