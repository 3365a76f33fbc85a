"""Messages as they travel."""

from typing import Any

import msgspec
from ninja import Field, Schema

from sessions_app.wire.cursors import DEFAULT_LIMIT, MAX_LIMIT
from sessions_app.wire.schemas import Out
from sessions_app.wire.times import to_wire
from stores_app.session.models import Message

MAX_BATCH = 1_000


class AppendedOut(Out):
    """Ids in the order of the request, and the sequence number of the last one."""

    ids: list[str]
    last_seq: int


class MessageOut(Out):
    """A message: `message` is the text that came in, unchanged; `seq` counts within the session, from 1, gapless."""

    id: str
    session_id: str
    tenant_id: str
    message: dict[str, Any]
    at: str
    seq: int


class MessagesAfter(Schema):
    """Messages behind a sequence number."""

    after: int = Field(0, ge=0, le=2**63 - 1, description="`seq` of the last message that is known already")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(None, max_length=2000, description="`nextCursor` of the page before, instead of `after`")
    wait_seconds: int = Field(
        0, alias="waitSeconds", ge=0, le=30, description="How long to wait for a message where there is none yet"
    )


_MESSAGE = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"type": "string", "enum": ["system", "user", "assistant", "tool"]},
        "content": {"type": "string", "nullable": True},
        "timestamp": {"type": "number"},
        "cacheHint": {"type": "string"},
        "toolCallId": {"type": "string"},
        "toolCalls": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "type", "function"],
                "properties": {
                    "id": {"type": "string"},
                    "type": {"type": "string", "enum": ["function"]},
                    "function": {
                        "type": "object",
                        "required": ["name", "arguments"],
                        "properties": {"name": {"type": "string"}, "arguments": {"type": "string"}},
                    },
                },
            },
        },
    },
    "example": {"role": "user", "content": "Please look at the failing build."},
}
_ACTOR = {
    "type": "object",
    "description": "Who writes, where the key is not bound to an actor and somebody owns the session",
    "example": {"kind": "user", "userId": "usr_1", "tenantId": "tnt_1"},
}

APPEND_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        {
                            "type": "object",
                            "required": ["message"],
                            "additionalProperties": False,
                            "properties": {"message": _MESSAGE, "actor": _ACTOR},
                        },
                        {
                            "type": "object",
                            "required": ["messages"],
                            "additionalProperties": False,
                            "properties": {
                                "messages": {"type": "array", "items": _MESSAGE, "minItems": 1, "maxItems": MAX_BATCH},
                                "actor": _ACTOR,
                            },
                        },
                    ]
                }
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One message a line, kept as it came; at most 1,000"}
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
