"""Drilling into one session of many: as a function, over HTTP, and against a view that does next to nothing."""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import IO

from benchmarks.client import Clients, request
from benchmarks.load import DEPTH, PROJECT, TENANT, load, plant, session_id
from benchmarks.server import ROOT, Bench, database, environment, web
from benchmarks.timing import Figure, interleave, median_of_rounds, note


@dataclass(frozen=True, slots=True)
class Size:
    """Sessions in the two databases, drills in each round, and the number of rounds."""

    small: int
    large: int
    rounds: int
    drills: int


@dataclass(frozen=True, slots=True)
class _Fleet:
    """A loaded database that is served: what can be timed on it, and the sessions that have children."""

    name: str
    function: "_Function"
    http: Clients
    api_key: str
    inner: list[int]

    def sample(self, count: int) -> list[str]:
        """Ids of sessions with children, others each time."""
        return [session_id(pk) for pk in random.choices(self.inner, k=count)]

    def parts(self, drills: int) -> dict[str, Callable[[], list[float]]]:
        """What takes turns with the other fleet's."""
        below = f"/api/v1/tenants/{TENANT}"

        def by_http() -> list[float]:
            paths = (f"{below}/sessions/{one}/drill" for one in self.sample(drills))
            return self.http.run([[request("GET", path, self.api_key) for path in paths]])

        def empty() -> list[float]:
            return self.http.run([[request("GET", f"{below}/projects/{PROJECT}", self.api_key)] * drills])

        parts = {"function": lambda: self.function.time(self.sample(drills)), "HTTP": by_http, "empty view": empty}
        return {f"{part}, {self.name}": work for part, work in parts.items()}


class _Function:
    """The drill in a process of its own, which has the database's URL in its environment."""

    def __init__(self, asked: IO[str], answered: IO[str]) -> None:
        self._asked, self._answered = asked, answered

    def time(self, ids: list[str]) -> list[float]:
        """Seconds of each drill."""
        print(json.dumps(ids), file=self._asked, flush=True)
        seconds: list[float] = json.loads(self._answered.readline())
        return seconds


def measure(bench: Bench, size: Size) -> list[Figure]:
    """Times of a drill among few and among many sessions, and their ratios."""
    with ExitStack() as stack:
        few, many = (stack.enter_context(_fleet(bench, count)) for count in (size.small, size.large))
        note(f"drill: {size.rounds} rounds")
        given = interleave(size.rounds, few.parts(size.drills) | many.parts(size.drills))
    figures = []
    for part in ("function", "HTTP"):
        for share, word in ((0.5, "p50"), (0.95, "p95")):
            low, high = (median_of_rounds(given[f"{part}, {fleet.name}"], share) * 1000 for fleet in (few, many))
            figure = Figure(
                f"drill, {part}, {many.name}: {word}", high, "ms", few.name, high / low, more_is_better=False
            )
            figures.append(Figure(f"drill, {part}, {few.name}: {word}", low, "ms"))
            figures.append(replace(figure, required=1.3, aim=1.1) if word == "p95" else figure)
    return figures + _against_empty(given, many.name)


def _against_empty(given: dict[str, list[list[float]]], name: str) -> list[Figure]:
    empty, drill = (median_of_rounds(given[f"{part}, {name}"], 0.5) * 1000 for part in ("empty view", "HTTP"))
    against = "empty view: GET of one project"
    return [
        Figure(f"empty view, {name}: p50", empty, "ms"),
        Figure(f"drill, HTTP, {name}: p50", drill, "ms", against, drill / empty, 5, 3, more_is_better=False),
    ]


@contextmanager
def _fleet(bench: Bench, count: int) -> Iterator[_Fleet]:
    note(f"drill: loading {count:,} sessions")
    with database(bench, f"drill_{count}") as url:
        load(url, sessions=count)
        with web(url) as port, _function(url) as function:
            http = Clients(port, 1)
            try:
                yield _Fleet(f"{count:,} sessions", function, http, bench.api_key, _inner(count))
            finally:
                http.close()


def _inner(count: int) -> list[int]:
    return sorted({one.parent for one in plant(count) if one.parent is not None and one.depth <= DEPTH})


@contextmanager
def _function(url: str) -> Iterator[_Function]:
    command = [sys.executable, "-m", "benchmarks.drill_function"]
    child = subprocess.Popen(
        command, cwd=ROOT, env=environment(url), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield _Function(child.stdin, child.stdout)
    finally:
        child.stdin.close()
        child.wait(30)
