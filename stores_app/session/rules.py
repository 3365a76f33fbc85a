"""What a message is, and what is extracted from it (domain.md §3)."""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from sessions_app.wire.json import read_as, read_json
from stores_app.session.errors import InvalidMessage

ROLES = ("system", "user", "assistant", "tool")
FIRST_LINE_LENGTH = 200
MAX_CALL_ID_LENGTH = 200
_REPLACED = {0: "\ufffd", **dict.fromkeys(range(55296, 57344), "�")}


class Function(msgspec.Struct):
    name: str
    arguments: str


class ToolCall(msgspec.Struct):
    id: str
    type: Literal["function"]
    function: Function


class MessageBody(msgspec.Struct, rename="camel"):
    """The known fields of a message; unknown ones are kept in the text."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None
    tool_calls: list[ToolCall] = msgspec.field(default_factory=list)
    tool_call_id: str | None = None
    timestamp: int | float | None = None
    cache_hint: str | None = None


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What queries need of a message."""

    role: str
    tool_call_id: str | None
    call_ids: list[str] | None
    user_text: str | None

    @property
    def user_line(self) -> str | None:
        """The first line of what a person said; worked out when asked for, since a session keeps only one."""
        return first_line(self.user_text) if self.user_text else None


def read_message(raw: bytes, place: str = "message", *, plain: bool | None = None) -> MessageFacts:
    """What queries need of the message; raises InvalidMessage naming the place, MalformedBody for what is not JSON.

    `plain` is what `sessions_app.wire.json.is_plain` said of a text that this is a part of.
    """
    try:
        body = _read_body(raw, plain)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        raise InvalidMessage(place + path.rstrip("`"), reason) from None
    return facts_of(body)


def _read_body(raw: bytes, plain: bool | None) -> MessageBody:
    body: MessageBody
    try:
        body = read_as(raw, MessageBody, plain=plain)
    except UnicodeEncodeError:  # half of a surrogate pair in a name or a role: msgspec cannot compare it with ours
        body = msgspec.convert(_storable_throughout(read_json(raw)), MessageBody)
    return body


def _storable_throughout(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): _storable_throughout(inner) for name, inner in value.items()}
    return [_storable_throughout(inner) for inner in value] if isinstance(value, list) else value


def facts_of(body: MessageBody) -> MessageFacts:
    """What queries need of a message that has been read."""
    calls = [storable(call.id)[:MAX_CALL_ID_LENGTH] for call in body.tool_calls]
    answered = body.tool_call_id
    return MessageFacts(
        role=body.role,
        tool_call_id=storable(answered)[:MAX_CALL_ID_LENGTH] if answered is not None else None,
        call_ids=calls or None,
        user_text=body.content if body.role == "user" else None,
    )


def first_line(content: str) -> str | None:
    """The first line with something in it, at most 200 characters; None where there is none."""
    for line in content[:4000].split("\n"):
        text = " ".join(storable(line).split())
        if text:
            return text[:FIRST_LINE_LENGTH]
    return None


def storable(text: str) -> str:
    """The text with what PostgreSQL cannot hold (NUL, lone surrogates) shown as U+FFFD."""
    return text.translate(_REPLACED)
