"""Reading request bodies: media type, charset and size are checked in this one place."""

import zlib
from collections.abc import Callable
from typing import Any

import zstandard
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, UnreadablePostError
from ninja.parser import Parser

from sessions_app.wire.errors import BodyTooLarge, InvalidRequest, MalformedBody, UnsupportedMedia
from sessions_app.wire.json import read_json

MAX_MEMBERS = 1_000  # of a packed body; nobody sends that many, but an empty one costs more to open than to send
JSON = "application/json"
NDJSON = "application/x-ndjson"


def load_body(request: HttpRequest) -> None:
    """Reads the body into the request; raises BodyTooLarge before more than the limit has been read.

    Chunked bodies carry no length: they are read up to the limit, which Django itself would not do.
    """
    limit: int = settings.MAX_BODY_BYTES
    stated = request.META.get("CONTENT_LENGTH") or ""
    if stated.isdigit() and int(stated) > limit:
        raise BodyTooLarge(limit)
    if not isinstance(request, WSGIRequest) or hasattr(request, "_body"):
        return
    stream = (
        request.environ["wsgi.input"]
        if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
        else request
    )
    try:
        body: bytes = stream.read(limit + 1)
    except (UnreadablePostError, OSError) as error:
        raise MalformedBody(f"The body ended early: {error}") from None
    if len(body) > limit:
        raise BodyTooLarge(limit)
    request._body = _decoded(request.headers.get("Content-Encoding", "identity").strip().lower(), body, limit)


def _decoded(encoding: str, body: bytes, limit: int) -> bytes:
    """The body without its encoding; what it unpacks to counts, and no more than that is unpacked."""
    if encoding == "identity":
        return body
    if encoding not in _OPENED:
        raise UnsupportedMedia(f"Send Content-Encoding gzip or zstd, not {encoding[:40]}.")
    try:
        decoded = _unpack(body, limit, _OPENED[encoding])
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise MalformedBody(f"The body is not {encoding}: {error}") from None
    if len(decoded) > limit:
        raise BodyTooLarge(limit)
    return decoded


def _unpack(body: bytes, limit: int, opened: Callable[[], Any]) -> bytes:
    """What the members of a packed body hold, at most little more than `limit`; raises EOFError where one ends early.

    In small pieces: four bytes may hold 128 kB, and what a member leaves of a piece is copied.
    """
    unpacked, position = bytearray(), 0
    for _ in range(MAX_MEMBERS):
        member = opened()
        while not member.eof:
            piece = body[position : position + 256]
            if not piece:
                raise EOFError("it ends early")
            unpacked += member.decompress(piece)
            position += len(piece) - len(member.unused_data)
            if len(unpacked) > limit:
                return bytes(unpacked)
        if position == len(body):
            return bytes(unpacked)
    raise EOFError(f"it has more than {MAX_MEMBERS} members")


_OPENED: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "zstd": lambda: zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj(),
}


def media_type(request: HttpRequest, *accepted: str) -> str:
    """The body's media type, one of `accepted`; raises UnsupportedMedia for others and for charsets but UTF-8."""
    kind = request.content_type or ""
    if kind not in accepted:
        raise UnsupportedMedia(f"Send {' or '.join(accepted)}, not {kind or 'a body without Content-Type'}.")
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMedia(f"Send UTF-8, not {charset}.")
    return kind


class StrictParser(Parser):
    """What ninja parses bodies with."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        media_type(request, JSON)
        value = read_json(request.body)
        if not isinstance(value, dict):
            raise InvalidRequest.at("body", "expected an object")
        return value
