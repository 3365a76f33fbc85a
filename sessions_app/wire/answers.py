"""What all answers of the API share: entity tags, 304, and compression."""

import gzip
import hashlib
import re

import zstandard
from django.http import HttpRequest, HttpResponse

from sessions_app.wire.errors import PreconditionFailed

COMPRESS_FROM_BYTES = 1_400  # below that an answer fits a packet anyway
_TAG = re.compile(r'(?:W/)?"([^"]*)"')
_QUALITY = re.compile(r"q\s*=\s*([0-9.]+)")


def tag_of(content: bytes) -> str:
    """The entity tag of a record: it changes exactly when the record does, so appends leave a session's alone."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def names_tag(header: str, tag: str) -> bool:
    """Whether an If-Match or If-None-Match header names the tag, or all; compression only puts W/ before it."""
    return header.strip() == "*" or tag in _TAG.findall(header)


def check_if_match(request: HttpRequest, content: bytes) -> None:
    """Raises PreconditionFailed where the request has an If-Match that does not name the record as it is now."""
    header = request.headers.get("If-Match")
    if header is not None and not names_tag(header, tag_of(content)):
        raise PreconditionFailed(actual=f'"{tag_of(content)}"')


def finish(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The answer with its tag, or 304, or compressed where the caller takes that."""
    if request.method in ("GET", "HEAD") and response.status_code == 200:
        tag = tag_of(response.content)
        response["ETag"] = f'"{tag}"'
        if names_tag(request.headers.get("If-None-Match", ""), tag):
            return _not_modified(response)
    _compress(request, response)
    response["Content-Length"] = str(len(response.content))
    return response


def _not_modified(response: HttpResponse) -> HttpResponse:
    bare = HttpResponse(status=304)
    del bare["Content-Type"]
    bare["ETag"] = response["ETag"]
    return bare


def _compress(request: HttpRequest, response: HttpResponse) -> None:
    response["Vary"] = "Accept-Encoding"
    if len(response.content) < COMPRESS_FROM_BYTES:
        return
    accepted = _accepted_encodings(request.headers.get("Accept-Encoding", ""))
    if "zstd" in accepted:
        response.content, response["Content-Encoding"] = zstandard.compress(response.content, 3), "zstd"
    elif "gzip" in accepted:
        response.content, response["Content-Encoding"] = gzip.compress(response.content, 5, mtime=0), "gzip"
    if "ETag" in response and "Content-Encoding" in response:
        response["ETag"] = f"W/{response['ETag']}"


def _accepted_encodings(header: str) -> set[str]:
    accepted = set()
    for part in header.lower().split(","):
        name, _, parameters = part.partition(";")
        quality = _QUALITY.search(parameters)
        if quality is None or quality[1].strip("0.") != "":
            accepted.add(name.strip())
    return accepted
