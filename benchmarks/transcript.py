"""The first and the last page of a long transcript, as JSON for a program and as HTML for a person."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.client import Clients, fragment_request, page_request, request
from benchmarks.load import TENANT, load, load_messages, session_id
from benchmarks.person import sign_in
from benchmarks.server import Bench, database, web
from benchmarks.timing import Figure, interleave, median_of_rounds, note
from stores_app.session.transcript import PAGE

_SESSION = 2
_API = f"/api/v1/tenants/{TENANT}/sessions/{session_id(_SESSION)}/messages?limit={PAGE}"
_SITE = f"/t/{TENANT}/sessions/{session_id(_SESSION)}/"


@dataclass(frozen=True, slots=True)
class Size:
    """Messages in the transcript, pages read in each round, and the number of rounds."""

    messages: int
    rounds: int
    pages: int


def measure(bench: Bench, size: Size) -> list[Figure]:
    """Times of the first and the last page in each form, and their ratios; the articles are rendered and kept."""
    with database(bench, "transcript") as url:
        loaded = load(url, sessions=10)
        load_messages(url, loaded, session_pk=_SESSION, messages=size.messages)
        with web(url) as port:
            note(f"transcript: {size.rounds} rounds")
            cookie, http = sign_in(url, port), Clients(port, 1)

            def read(one: bytes) -> Callable[[], list[float]]:
                return lambda: http.run([[one] * size.pages])

            places = {"first": 0, "last": size.messages - PAGE}
            parts = {
                f"{kind}: {place}": read(one)
                for place, after in places.items()
                for kind, one in _requests(after, bench.api_key, cookie).items()
            }
            try:
                given = interleave(size.rounds, parts)
            finally:
                http.close()
    return _figures({name: median_of_rounds(rounds, 0.5) * 1000 for name, rounds in given.items()}, size.messages)


def _requests(after: int, api_key: str, cookie: str) -> dict[str, bytes]:
    return {
        "JSON": request("GET", f"{_API}&after={after}", api_key),
        "HTML fragment": fragment_request(f"{_SITE}transcript/?after={after}", cookie),
        "HTML page": page_request(f"{_SITE}?after={after}", cookie),
    }


def _figures(p50: dict[str, float], messages: int) -> list[Figure]:
    title = f"{PAGE} of {messages:,} messages"
    figures = []
    for kind in ("JSON", "HTML fragment", "HTML page"):
        first, last = p50[f"{kind}: first"], p50[f"{kind}: last"]
        figures += [
            Figure(f"{title}, {kind}: first, p50", first, "ms"),
            Figure(f"{title}, {kind}: last, p50", last, "ms", "first", last / first, 1.2, 1.05, more_is_better=False),
        ]
    for kind in ("HTML fragment", "HTML page"):
        html, ratio = p50[f"{kind}: last"], p50[f"{kind}: last"] / p50["JSON: last"]
        figures.append(Figure(f"{title}, {kind}", html, "ms", "JSON", ratio, 2, 1, more_is_better=False))
    return figures
