"""Messages as they travel."""

import json
from typing import Any, Literal

import msgspec
from ninja import Field, Schema

from sessions_app.wire.cursors import DEFAULT_LIMIT, MAX_LIMIT
from sessions_app.wire.schemas import Out, Shape, Time, example, id_of, left_out
from sessions_app.wire.times import to_wire
from stores_app.session.models import Message

MAX_BATCH = 1_000
_SAID: dict[str, Any] = {"role": "user", "content": "The total is wrong when a **coupon** is used."}
_ANSWERED: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "toolCalls": [{"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}],
}


class FunctionShape(Shape):
    name: str
    arguments: str


class ToolCallShape(Shape):
    id: str
    type: Literal["function"]
    function: FunctionShape


class MessageShape(Shape):
    """What was said. The text is kept as it came, unknown fields too."""

    model_config = example(_SAID)

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None
    tool_calls: list[ToolCallShape] | None = left_out()
    tool_call_id: str | None = None
    timestamp: float | None = None
    cache_hint: str | None = None


class AppendedOut(Out):
    """Ids in the order of the request, and the sequence number of the last one."""

    model_config = example({"ids": ["msg_01k5c0s2mvf4trq8h6y3w9x7nb"], "lastSeq": 1})

    ids: list[id_of("msg")]  # type: ignore[valid-type]
    last_seq: int


class MessageOut(Out):
    """A message: `message` is the text that came in, unchanged; `seq` counts within the session, from 1, gapless."""

    model_config = example(
        {
            "id": "msg_01k5c0s2mvf4trq8h6y3w9x7nb",
            "sessionId": "ses_01k5c0p4hze9wvk7d3n8q2t6ya",
            "tenantId": "tnt_01k5c0m8ddfej9b3q1x7w2v4za",
            "message": _SAID,
            "at": "2026-04-18T11:02:07.315Z",
            "seq": 1,
        }
    )

    id: id_of("msg")  # type: ignore[valid-type]
    session_id: id_of("ses")  # type: ignore[valid-type]
    tenant_id: id_of("tnt")  # type: ignore[valid-type]
    message: MessageShape
    at: Time
    seq: int


class MessagesAfter(Schema):
    """Messages behind a sequence number."""

    after: int = Field(0, ge=0, le=2**63 - 1, description="`seq` of the last message that is known already")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str | None = left_out(max_length=2000, description="`nextCursor` of the page before, instead of `after`")
    wait_seconds: int = Field(
        0, alias="waitSeconds", ge=0, le=30, description="How long to wait for a message where there is none yet"
    )


_MESSAGE = {"$ref": "#/components/schemas/MessageShape"}
_ACTOR = {
    "description": "Who writes, where the key is not bound to an actor and somebody owns the session",
    "anyOf": [{"$ref": "#/components/schemas/Actor"}, {"type": "null"}],
}


def _append_form(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [name],
        "additionalProperties": False,
        "properties": {name: schema, "actor": _ACTOR},
    }


APPEND_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        _append_form("message", _MESSAGE),
                        _append_form(
                            "messages", {"type": "array", "items": _MESSAGE, "minItems": 1, "maxItems": MAX_BATCH}
                        ),
                    ]
                },
                "examples": {
                    "one": {"summary": "One message", "value": {"message": _SAID}},
                    "many": {"summary": "Many, all or nothing", "value": {"messages": [_SAID, _ANSWERED]}},
                },
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One message a line, kept as it came; at most 1,000"},
                "example": f"{json.dumps(_SAID)}\n{json.dumps(_ANSWERED)}\n",
            },
        },
    }
}


def message_record(message: Message, session_id: str, tenant_id: str) -> dict[str, Any]:
    """The message on the wire, its text as it came (domain.md §3)."""
    return {
        "id": message.public_id,
        "sessionId": session_id,
        "tenantId": tenant_id,
        "message": msgspec.Raw(bytes(message.raw)),
        "at": to_wire(message.at),
        "seq": message.seq,
    }
