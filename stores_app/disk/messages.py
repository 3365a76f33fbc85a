"""Typed reading of a line of `messages.jsonl`, with the message's bytes as they are (domain.md §3, §14)."""

import re
from dataclasses import dataclass
from datetime import datetime

import msgspec

from sessions_app.wire.errors import MalformedBody
from sessions_app.wire.json import read_json, slice_object
from sessions_app.wire.times import to_wire
from stores_app.disk.errors import DamagedRecord
from stores_app.disk.files import Line
from stores_app.disk.places import RECORD_VERSION, Places
from stores_app.session.errors import InvalidMessage
from stores_app.session.rules import MessageFacts, read_message

_CANONICAL = re.compile(
    rb'\{"id":"([\w-]*)","sessionId":"([\w-]*)","tenantId":"([\w-]*)","message":(\{.*\}),"at":"([\w:.+-]*)"\}',
    re.DOTALL,
)


class TornLine(DamagedRecord):
    """The last line ends in the middle: its writer was stopped."""

    code = "torn_line"
    kind = "torn"


class _NotJson(DamagedRecord):
    """The line as a whole is no JSON object; one that is and has something wrong in it was not cut off."""


class _Envelope(msgspec.Struct, rename="camel"):
    id: str
    session_id: str
    tenant_id: str
    at: str


_ENVELOPE_FIELDS = ("id", "sessionId", "tenantId", "at", "schemaVersion")


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One line: `raw` is the exact bytes of its `message`.

    `envelope` is the whole line where `canonical_line` would not give it back byte for byte, else None.
    """

    id: str
    session_id: str
    tenant_id: str
    at: datetime
    raw: bytes
    facts: MessageFacts
    envelope: bytes | None


def read_message_line(line: Line, file: str) -> MessageRecord:
    """The record; raises DamagedRecord, TornLine where the last line is cut off, or NewerRecord."""
    places = Places(file, line.number)
    if line.data is None:
        raise places.damaged("", "the line is too long to be read")
    torn = TornLine(file, places.at(""), "the last line is cut off; the whole lines before it were taken")
    if not line.ended and not line.data.rstrip(b" \t\r").endswith(b"}"):  # nothing more is asked of it
        raise torn
    try:
        return _read(line.data, places)
    except _NotJson:
        if line.ended:
            raise
        raise torn from None


def canonical_line(*, id_: str, session_id: str, tenant_id: str, raw: bytes, at: datetime) -> bytes:
    """The line as the runtime writes it, without its newline."""
    head = f'{{"id":"{id_}","sessionId":"{session_id}","tenantId":"{tenant_id}","message":'
    return b"".join((head.encode(), raw, f',"at":"{to_wire(at)}"}}'.encode()))


def _read(data: bytes, places: Places) -> MessageRecord:
    envelope, raw, facts = _split_canonical(data) or _split(data, places)
    id_ = places.id("id", "msg", envelope.id)
    session_id = places.id("sessionId", "ses", envelope.session_id)
    tenant_id = places.id("tenantId", "tnt", envelope.tenant_id)
    at = places.time("at", envelope.at)
    is_canonical = data == canonical_line(id_=id_, session_id=session_id, tenant_id=tenant_id, raw=raw, at=at)
    return MessageRecord(id_, session_id, tenant_id, at, raw, facts, None if is_canonical else data)


def _split_canonical(data: bytes) -> tuple[_Envelope, bytes, MessageFacts] | None:
    """The parts of a line as the runtime writes it, in a third of the time; None where it is not, or is damaged.

    What stands between the known beginning and end is one JSON value, or `read_message` refuses it.
    """
    match = _CANONICAL.fullmatch(data)
    if match is None:
        return None
    id_, session_id, tenant_id, raw, at = match.groups()
    try:
        facts = read_message(raw)
    except (MalformedBody, InvalidMessage):
        return None
    return _Envelope(id_.decode(), session_id.decode(), tenant_id.decode(), at.decode()), raw, facts


def _split(data: bytes, places: Places) -> tuple[_Envelope, bytes, MessageFacts]:
    """The parts of any line: its own fields, and the bytes of its message."""
    members = _members(data, places)
    try:
        with places.reading():
            values = {name: read_json(members[name]) for name in _ENVELOPE_FIELDS if name in members}
            places.check_version(values.get("schemaVersion", RECORD_VERSION))  # before anything is asked of a newer one
            if "message" not in members:
                raise places.damaged("message", "is missing")
            return msgspec.convert(values, _Envelope), members["message"], read_message(members["message"])
    except InvalidMessage as error:
        raise places.damaged(error.place, error.reason) from None


def _members(data: bytes, places: Places) -> dict[str, bytes]:
    try:
        return slice_object(data)
    except MalformedBody as error:
        raise _NotJson(places.file, places.at(""), error.message) from None
