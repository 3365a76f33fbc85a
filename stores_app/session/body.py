"""A message's fields as far as they can be read: nothing here raises, whatever the record says."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sessions_app.wire.errors import MalformedBody
from sessions_app.wire.json import check_depth
from stores_app.session.pairing import MAX_CALLS

_SLICED = msgspec.json.Decoder(dict[str, msgspec.Raw])
_KNOWN = ("role", "content", "toolCalls", "toolCallId", "timestamp", "cacheHint")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its id, the tool's name, and the arguments' text. Damaged ones have what could be read."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Body:
    """The message: `content` is None where there is none, `more` holds unknown fields as their JSON text."""

    content: str | None = None
    calls: list[Call] = field(default_factory=list)
    more_calls: int = 0
    answers: str | None = None
    cache_hint: str | None = None
    more: dict[str, str] = field(default_factory=dict)
    readable: bool = True


def read_body(raw: bytes) -> Body:
    """The fields of the message; a text that is no JSON object comes back as its own content, marked unreadable."""
    fields = _slice(raw)
    if fields is None:
        return Body(content=raw.decode("utf-8", "replace"), readable=False)
    content, calls, answers = _value(fields, "content"), _value(fields, "toolCalls"), _value(fields, "toolCallId")
    hint = _value(fields, "cacheHint")
    odd = [
        name
        for name, value, kind in (("content", content, str), ("toolCalls", calls, list), ("toolCallId", answers, str))
        if value is not None and not isinstance(value, kind)
    ]
    calls = calls if isinstance(calls, list) else []
    return Body(
        content=content if isinstance(content, str) else None,
        calls=[_call(call) for call in calls[:MAX_CALLS]],
        more_calls=max(len(calls) - MAX_CALLS, 0),
        answers=answers if isinstance(answers, str) else None,
        cache_hint=hint if isinstance(hint, str) else None,
        more={name: text for name, text in fields.items() if name not in _KNOWN or name in odd},
    )


def _slice(raw: bytes) -> dict[str, str] | None:
    """The fields with their JSON text; values are not read, so that a huge unknown field costs nothing."""
    try:
        check_depth(raw)
        return {name: bytes(text).decode() for name, text in _SLICED.decode(raw).items()}
    except MalformedBody:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _slice_slowly(raw)


def _slice_slowly(raw: bytes) -> dict[str, str] | None:
    """As `_slice`, by the standard library's reader: it takes lone surrogates."""
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return {name: json.dumps(item) for name, item in value.items()} if isinstance(value, dict) else None


def _value(fields: Mapping[str, str], name: str) -> Any:
    text = fields.get(name)
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:  # a number of more digits than Python reads
        return None


def _call(value: Any) -> Call:
    call = value if isinstance(value, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return Call(
        id=_text(call.get("id", "")),
        name=_text(function.get("name", "")),
        arguments=_text(function.get("arguments", "")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
