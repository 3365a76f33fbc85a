"""The first and the last page of a long transcript."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.client import Clients, request
from benchmarks.load import TENANT, load, load_messages, session_id
from benchmarks.server import Bench, database, web
from benchmarks.timing import Figure, interleave, median_of_rounds, note

PAGE = 50
_SESSION = 2


@dataclass(frozen=True, slots=True)
class Size:
    """Messages in the transcript, pages read in each round, and the number of rounds."""

    messages: int
    rounds: int
    pages: int


def measure(bench: Bench, size: Size) -> list[Figure]:
    """Times of the first and the last page as JSON, and their ratio."""
    with database(bench, "transcript") as url:
        loaded = load(url, sessions=10)
        load_messages(url, loaded, session_pk=_SESSION, messages=size.messages)
        with web(url) as port:
            note(f"transcript: {size.rounds} rounds")
            http = Clients(port, 1)

            def page(after: int) -> Callable[[], list[float]]:
                path = f"/api/v1/tenants/{TENANT}/sessions/{session_id(_SESSION)}/messages?limit={PAGE}&after={after}"
                return lambda: http.run([[request("GET", path, bench.api_key)] * size.pages])

            try:
                given = interleave(size.rounds, {"first": page(0), "last": page(size.messages - PAGE)})
            finally:
                http.close()
    return _figures(given, size.messages)


def _figures(given: dict[str, list[list[float]]], messages: int) -> list[Figure]:
    first, last = (median_of_rounds(given[name], 0.5) * 1000 for name in ("first", "last"))
    name = f"page of {PAGE} of {messages:,} messages, JSON"
    return [
        Figure(f"{name}: first, p50", first, "ms"),
        Figure(f"{name}: last, p50", last, "ms", "first", last / first, 1.2, 1.05, more_is_better=False),
    ]
