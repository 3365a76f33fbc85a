"""Reading request bodies: media type, charset and size are checked in this one place."""

from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, UnreadablePostError
from ninja.parser import Parser

from sessions_app.wire.errors import BodyTooLarge, InvalidRequest, MalformedBody, UnsupportedMedia
from sessions_app.wire.json import read_json

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
    stream = request.environ["wsgi.input"] if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "") else request
    try:
        body: bytes = stream.read(limit + 1)
    except (UnreadablePostError, OSError) as error:
        raise MalformedBody(f"The body ended early: {error}") from None
    if len(body) > limit:
        raise BodyTooLarge(limit)
    request._body = body


def media_type(request: HttpRequest, *accepted: str) -> str:
    """The body's media type, one of `accepted`; raises UnsupportedMedia for others and for charsets but UTF-8."""
    kind = request.content_type or ""
    if kind not in accepted:
        raise UnsupportedMedia(f"Send {' or '.join(accepted)}, not {kind or 'a body without Content-Type'}.")
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise UnsupportedMedia(f"Send the body as it is, not with Content-Encoding {encoding[:40]}.")
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
