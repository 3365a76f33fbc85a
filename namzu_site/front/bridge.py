"""The threads in which pages and API run, behind the asynchronous front."""

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from tempfile import SpooledTemporaryFile
from threading import Barrier, BrokenBarrierError
from typing import Any, BinaryIO, cast

from django.db import connections
from django.http import HttpResponse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

IN_MEMORY_BYTES = 1 << 20  # of a request body; the rest of a large one waits in a temporary file
PATIENCE_SECONDS = 20  # for the next piece of a body; who sends nothing meanwhile has gone, or means no good
STOP_SECONDS = 3
AT_ONCE_BYTES = 1 << 18  # of an answer; a longer one is sent piece by piece


@dataclass(slots=True)
class Answer:
    """The beginning of an answer, and the rest of it, None where that was all."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    rest: Iterator[bytes] | None


class Bridge:
    """Runs a WSGI application in threads of its own, each with its database connection."""

    def __init__(self, application: Application, *, threads: int) -> None:
        self._application = application
        self._count = threads
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="request")

    async def call(self, scope: Scope, body: BinaryIO, **extra: Any) -> Answer:
        """The application's answer; `extra` stands in its environ."""
        environ = environ_of(scope, body) | extra
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._start, environ)

    async def send(self, answer: Answer, send: Send) -> None:
        """Passes the answer on, as fast as the client takes it."""
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": answer.rest is not None})
        while answer.rest is not None:
            piece = await asyncio.get_running_loop().run_in_executor(self._threads, next, answer.rest, None)
            await send({"type": "http.response.body", "body": piece or b"", "more_body": piece is not None})
            if piece is None:
                return

    def stop(self) -> None:
        """Ends the threads, and with each its database connection."""
        everybody = Barrier(self._count)  # so that each thread takes one
        for _ in range(self._count):
            self._threads.submit(_hang_up, everybody)
        self._threads.shutdown()

    def _start(self, environ: dict[str, Any]) -> Answer:
        begun: list[tuple[str, list[tuple[str, str]]]] = []
        pieces = self._application(environ, lambda status, headers, _=None: begun.append((status, headers)))
        iterator, body = iter(pieces), b""
        for piece in iterator:
            body += piece
            if len(body) > AT_ONCE_BYTES:
                return _answer(begun[0], body, chain(iterator, _closing(pieces)))
        _close(pieces)
        return _answer(begun[0], body, None)


def _hang_up(everybody: Barrier) -> None:
    connections.close_all()
    with contextlib.suppress(BrokenBarrierError):  # somebody is still at work
        everybody.wait(timeout=STOP_SECONDS)


def _answer(begun: tuple[str, list[tuple[str, str]]], body: bytes, rest: Iterator[bytes] | None) -> Answer:
    status, headers = begun
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return Answer(int(status[:3]), raw, body, rest)


def answer_of(response: HttpResponse) -> Answer:
    """An answer that is made without the application."""
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    length = (b"content-length", str(len(response.content)).encode())
    return Answer(response.status_code, [*headers, length], response.content, None)


def _close(pieces: Iterable[bytes]) -> None:
    if hasattr(pieces, "close"):
        pieces.close()


def _closing(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Nothing more, but what has to be done at the end."""
    _close(pieces)
    yield from ()


async def read_body(scope: Scope, receive: Receive, limit: int) -> BinaryIO:
    """The request's body, up to one byte more than the limit: whoever parses it sees that it is too long.

    It is read here, so that a slow one holds no thread. Raises TimeoutError, ConnectionResetError.
    """
    stated = header(scope, b"content-length")
    if scope["method"] in ("GET", "HEAD") or int(stated or 0) > limit:
        return BytesIO()
    if stated is not None and int(stated) <= IN_MEMORY_BYTES:
        body: BinaryIO = BytesIO()
    else:
        body = cast(BinaryIO, SpooledTemporaryFile(max_size=IN_MEMORY_BYTES))  # noqa: SIM115 - the caller closes it
    size, more = 0, True
    while more and size <= limit:
        async with asyncio.timeout(PATIENCE_SECONDS):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError
        size += body.write(message.get("body", b""))
        more = message.get("more_body", False)
    body.seek(0)
    return body


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of that lower-case name."""
    return next((value for found, value in scope["headers"] if found == name), None)


def environ_of(scope: Scope, body: BinaryIO) -> dict[str, Any]:
    """The request as WSGI has it (PEP 3333): text is bytes read as Latin-1."""
    server = scope.get("server") or ("localhost", 80)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode("utf-8", "surrogateescape").decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": (scope.get("client") or ("",))[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
        text = value.decode("latin-1")
        environ[key] = f"{environ[key]},{text}" if key in environ else text
    if "HTTP_TRANSFER_ENCODING" in environ:  # the body has been put together; its length is known now
        del environ["HTTP_TRANSFER_ENCODING"]
        environ["CONTENT_LENGTH"] = str(body.seek(0, 2))
        body.seek(0)
    return environ
