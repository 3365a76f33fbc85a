"""Opaque places in a list, for keyset pages."""

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from sessions_app.wire.errors import InvalidRequest

DEFAULT_LIMIT = 50
MAX_LIMIT = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MOST = 2**63 - 1


def encode_cursor(*parts: str | int | datetime) -> str:
    """The place after a row, as text that a client gives back unread."""
    plain = [(part - _EPOCH) // _MICROSECOND if isinstance(part, datetime) else part for part in parts]
    return base64.urlsafe_b64encode(msgspec.json.encode(plain)).rstrip(b"=").decode()


def decode_cursor(text: str, *types: type) -> tuple[Any, ...]:
    """The parts of a cursor, by their types; raises InvalidRequest for one that was not made here."""
    try:
        parts = msgspec.json.decode(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
        if not isinstance(parts, list) or len(parts) != len(types):
            raise ValueError
        return tuple(_part(part, kind) for part, kind in zip(parts, types, strict=True))
    except (ValueError, OverflowError, RecursionError, binascii.Error, msgspec.MsgspecError):
        raise InvalidRequest.at("query.cursor", "not a cursor of this list") from None


def _part(part: object, kind: type) -> str | int | datetime:
    if kind is datetime:
        if type(part) is not int:
            raise ValueError
        return _EPOCH + part * _MICROSECOND
    if type(part) is not kind:
        raise ValueError
    if isinstance(part, str) and "\0" not in part and part.isprintable():
        return part
    if isinstance(part, int) and -_MOST <= part <= _MOST:
        return part
    raise ValueError
