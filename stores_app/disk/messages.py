"""Typed reading of a line of `messages.jsonl`, with the message's bytes as they are (domain.md §3, §14)."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from sessions_app.wire.errors import MalformedBody
from sessions_app.wire.json import check_depth, read_json
from sessions_app.wire.times import to_wire
from stores_app.disk.errors import DamagedRecord
from stores_app.disk.files import Line
from stores_app.disk.places import RECORD_VERSION, Places
from stores_app.session.errors import InvalidMessage
from stores_app.session.rules import MessageFacts, read_message

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_MESSAGE_KEY = b'"message"'


class TornLine(DamagedRecord):
    """The last line ends in the middle: its writer was stopped."""

    code = "torn_line"
    kind = "torn"


class _Envelope(msgspec.Struct, rename="camel"):
    id: str
    session_id: str
    tenant_id: str
    at: str
    schema_version: Any = RECORD_VERSION


class _Line(_Envelope, kw_only=True):
    message: msgspec.Raw


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
    try:
        return _read(line.data, places)
    except DamagedRecord as error:
        if line.ended or not _is_torn(line.data):
            raise
        raise TornLine(file, error.place, "the last line is cut off; the whole lines before it were taken") from None


def canonical_line(*, id_: str, session_id: str, tenant_id: str, raw: bytes, at: datetime) -> bytes:
    """The line as the runtime writes it, without its newline."""
    head = f'{{"id":"{id_}","sessionId":"{session_id}","tenantId":"{tenant_id}","message":'
    return b"".join((head.encode(), raw, f',"at":"{to_wire(at)}"}}'.encode()))


def _read(data: bytes, places: Places) -> MessageRecord:
    with places.reading():
        _check_utf8(data)
        check_depth(data)
        envelope, raw = _split(data)
    places.check_version(envelope.schema_version)
    id_ = places.id("id", "msg", envelope.id)
    session_id = places.id("sessionId", "ses", envelope.session_id)
    tenant_id = places.id("tenantId", "tnt", envelope.tenant_id)
    at = places.time("at", envelope.at)
    try:
        with places.reading():
            facts = read_message(raw)
    except InvalidMessage as error:
        raise places.damaged(error.place, error.reason) from None
    is_canonical = data == canonical_line(id_=id_, session_id=session_id, tenant_id=tenant_id, raw=raw, at=at)
    return MessageRecord(id_, session_id, tenant_id, at, raw, facts, None if is_canonical else data)


def _check_utf8(data: bytes) -> None:
    """Skipped values are not looked at by the parser, and what is kept must be served as JSON one day."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedBody(f"not UTF-8: {error.reason} at byte {error.start}") from None


def _split(data: bytes) -> tuple[_Envelope, bytes]:
    """The line's own fields, and the bytes of its message."""
    try:
        line = msgspec.json.decode(data, type=_Line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # Lone surrogates are JSON, but not for msgspec: the standard library reads it, the message is cut out by hand.
        return msgspec.convert(read_json(data), _Envelope), _cut_message(data)
    return line, bytes(line.message)


def _cut_message(data: bytes) -> bytes:
    """The bytes of the last member `message` of an object that is known to be JSON."""
    depth, key, start, end, found = 0, b"", -1, 0, b""
    for token in _TOKEN.finditer(data):
        text = token[0]
        if depth == 1 and start >= 0 and text in b",}":
            found, start, key = data[start:end], -1, b""
        if text in (b"{", b"["):
            depth += 1
        elif text in (b"}", b"]"):
            depth -= 1
        if depth == 1 and text == b":" and key == _MESSAGE_KEY:
            start = token.end()
        elif depth == 1 and start < 0:
            key = text
        end = token.end()
    if not found:
        raise MalformedBody("there is no message in it")
    return found.strip(b" \t\r\n")


def _is_torn(data: bytes) -> bool:
    """Whether the line is no whole JSON: a whole one that is wrong otherwise was not cut off."""
    try:
        read_json(data)
    except MalformedBody:
        return True
    return False
