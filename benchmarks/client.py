"""A load generator that costs little: prepared bytes over kept connections, many of them in one loop."""

import selectors
import socket
from collections.abc import Iterator, Sequence
from time import perf_counter

_LAST_CHUNK = b"0\r\n\r\n"


class Connection:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.began = 0.0

    def send(self, request: bytes) -> None:
        self.began = perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bytes:
        """The whole body, chunks as they came; raises RuntimeError for anything but a success."""
        received = self._some()
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._some()
        head, body = received[:end], received[end + 4 :]
        length = _content_length(head)
        while not body.endswith(_LAST_CHUNK) if length is None else len(body) < length:
            body += self._some()
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{head.decode(errors='replace')}\n\n{body[:2000].decode(errors='replace')}")
        return body

    def _some(self) -> bytes:
        received = self.socket.recv(1 << 20)
        if not received:
            raise RuntimeError("The server closed the connection.")
        return received


class Clients:
    """As many clients as asked for, each sending its next request when it has the answer to the one before."""

    def __init__(self, port: int, count: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._connections = [Connection(port) for _ in range(count)]
        for connection in self._connections:
            self._selector.register(connection.socket, selectors.EVENT_READ, connection)

    def run(self, requests: Sequence[Sequence[bytes]]) -> list[float]:
        """Seconds of each request; `requests` has one sequence for each client."""
        waiting = {id(c): iter(mine) for c, mine in zip(self._connections, requests, strict=True)}
        took: list[float] = []
        open_ones = sum(self._send_next(connection, waiting) for connection in self._connections)
        while open_ones:
            for key, _ in self._selector.select():
                connection: Connection = key.data
                connection.receive()
                took.append(perf_counter() - connection.began)
                open_ones -= not self._send_next(connection, waiting)
        return took

    def close(self) -> None:
        """All connections are closed."""
        for connection in self._connections:
            connection.socket.close()
        self._selector.close()

    @staticmethod
    def _send_next(connection: Connection, waiting: dict[int, Iterator[bytes]]) -> bool:
        request = next(waiting[id(connection)], None)
        if request is None:
            return False
        connection.send(request)
        return True


def request(
    method: str, path: str, key: str, body: bytes = b"", kind: str = "application/json", repeatable_as: str = ""
) -> bytes:
    """The bytes of one request of a program, with an Idempotency-Key where it is to be repeatable."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    if repeatable_as:
        head += f"Idempotency-Key: {repeatable_as}\r\n"
    if body:
        head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def page_request(path: str, cookie: str) -> bytes:
    """The bytes of a browser's request for a page."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode()


def fragment_request(path: str, cookie: str) -> bytes:
    """The bytes of htmx's request for a part of a page."""
    htmx = "HX-Request: true\r\nHX-Request-Type: partial\r\n"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n{htmx}\r\n".encode()


def _content_length(head: bytes) -> int | None:
    """Bytes of the body, None where it comes in chunks."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return None
