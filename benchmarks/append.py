"""Appending over HTTP against the same work done straight in SQL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.client import Clients, request
from benchmarks.load import TENANT, Loaded, load, message, session_id
from benchmarks.raw import RawWriter
from benchmarks.server import Bench, database, web
from benchmarks.timing import Figure, interleave, median_of_rounds, note, rate
from sessions_app.ids import new_id

BATCH = 1000
MANY = 16
_SESSIONS = 400  # every other one has no owner, so that a key that names no actor may write


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done in each round, and how many rounds there are."""

    rounds: int
    singles: int
    batches: int


def measure(bench: Bench, size: Size) -> list[Figure]:
    """Rates of single and batched appends, with their ratios to raw SQL."""
    with database(bench, "append") as url:
        loaded = load(url, sessions=_SESSIONS)
        with web(url) as port:
            note(f"append: {size.rounds} rounds")
            return [
                *_singles(url, port, loaded, bench.api_key, size, clients=1, required=0.40, aim=0.55),
                *_singles(url, port, loaded, bench.api_key, size, clients=MANY, required=0.35, aim=0.50),
                *_batches(url, port, loaded, bench.api_key, size),
            ]


def _singles(
    url: str, port: int, loaded: Loaded, api_key: str, size: Size, *, clients: int, required: float, aim: float
) -> list[Figure]:
    raw, http = RawWriter(url, loaded, clients), Clients(port, clients)
    each = max(1, size.singles // clients)
    for_raw, for_http, for_keyed = (_unowned(place * clients, clients) for place in range(3))
    requests = [[_append_one(api_key, session)] * each for session in for_http]

    def by_raw() -> list[float]:
        values = raw.prepare(for_raw, each)
        return rate(each * clients, lambda: raw.append_each(values))

    def by_http() -> list[float]:
        return rate(each * clients, lambda: http.run(requests))

    def by_keyed() -> list[float]:
        keyed = [[_append_one(api_key, session, new_id("key")) for _ in range(each)] for session in for_keyed]
        return rate(each * clients, lambda: http.run(keyed))

    try:
        given = interleave(size.rounds, {"raw": by_raw, "http": by_http, "keyed": by_keyed})
    finally:
        raw.close()
        http.close()
    fast, ours, keyed = (median_of_rounds(given[name], 0.5) for name in ("raw", "http", "keyed"))
    name = f"single append, {clients} client{'s' * (clients > 1)}"
    return [
        Figure(f"{name}: one statement, raw", fast, "messages/s"),
        Figure(f"{name}: HTTP", ours, "messages/s", "raw", ours / fast, required, aim),
        Figure(f"{name}: HTTP, Idempotency-Key", keyed, "messages/s", "HTTP", keyed / ours, 0.85, 0.85),
    ]


def _batches(url: str, port: int, loaded: Loaded, api_key: str, size: Size) -> list[Figure]:
    raw, http = RawWriter(url, loaded, 1), Clients(port, 1)
    to_copy, as_array, as_lines = _unowned(3 * MANY, 3)
    path = f"/api/v1/tenants/{TENANT}/sessions"
    lines = [message(number) for number in range(BATCH)]
    array = b'{"messages":[' + b",".join(lines) + b"]}"
    bodies = {
        "JSON array": request("POST", f"{path}/{session_id(as_array)}/messages", api_key, array),
        "NDJSON": request(
            "POST", f"{path}/{session_id(as_lines)}/messages", api_key, b"\n".join(lines), "application/x-ndjson"
        ),
    }
    copied = 0

    def by_copy() -> list[float]:
        nonlocal copied
        batches = [raw.rows(to_copy, 1 + copied + BATCH * number, BATCH) for number in range(size.batches)]
        copied += BATCH * size.batches
        return rate(BATCH * size.batches, lambda: raw.copy_each(batches))

    def by_http(body: bytes) -> Callable[[], list[float]]:
        return lambda: rate(BATCH * size.batches, lambda: http.run([[body] * size.batches]))

    try:
        given = interleave(size.rounds, {"raw": by_copy} | {name: by_http(body) for name, body in bodies.items()})
    finally:
        raw.close()
        http.close()
    fast = median_of_rounds(given.pop("raw"), 0.5)
    figures = [Figure(f"batch of {BATCH}: COPY BINARY, raw", fast, "messages/s")]
    for name, rounds in given.items():
        ours = median_of_rounds(rounds, 0.5)
        figures.append(Figure(f"batch of {BATCH}: {name}", ours, "messages/s", "raw", ours / fast, 0.40, 0.65))
    return figures


def _append_one(api_key: str, session: int, repeatable_as: str = "") -> bytes:
    path = f"/api/v1/tenants/{TENANT}/sessions/{session_id(session)}/messages"
    return request("POST", path, api_key, b'{"message":' + message(session) + b"}", repeatable_as=repeatable_as)


def _unowned(first: int, count: int) -> Sequence[int]:
    """Keys of sessions that have no owner: the even ones."""
    return [2 * (first + number + 1) for number in range(count)]
