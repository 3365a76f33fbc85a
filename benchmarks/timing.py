"""Rounds that take turns, what they come to, and the table of figures."""

import json
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, sleep

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: a value, and its ratio to the value it is held against.

    `required` and `aim` are bounds of the ratio; whether it should lie above or below them, `more_is_better` says.
    """

    name: str
    value: float
    unit: str
    against: str = ""
    ratio: float | None = None
    required: float | None = None
    aim: float | None = None
    more_is_better: bool = True

    @property
    def verdict(self) -> str:
        """`aim`, `required` or `missed`; empty where nothing is asked for."""
        if self.ratio is None or self.required is None:
            return ""
        if self.aim is not None and self._reaches(self.aim):
            return "aim"
        return "required" if self._reaches(self.required) else "missed"

    def _reaches(self, bound: float) -> bool:
        assert self.ratio is not None
        return self.ratio >= bound if self.more_is_better else self.ratio <= bound


def interleave(rounds: int, parts: Mapping[str, Callable[[], list[float]]]) -> dict[str, list[list[float]]]:
    """What each part gave in each round. The parts take turns, so that a slow minute of the machine meets all of them.

    One round more is run first and left out: connections, plans and caches are warm afterwards.
    """
    given: dict[str, list[list[float]]] = {name: [] for name in parts}
    for number in range(rounds + 1):
        for name, part in parts.items():
            values = part()
            if number:
                given[name].append(values)
    return given


def median_of_rounds(rounds: list[list[float]], share: float) -> float:
    """The percentile `share` (0 to 1) of each round, then the median of these."""
    return statistics.median(percentile(values, share) for values in rounds)


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def rate(count: int, work: Callable[[], object]) -> list[float]:
    """How many a second, as a list of one: what a round of `interleave` gives."""
    began = perf_counter()
    work()
    return [count / (perf_counter() - began)]


def busy_share(seconds: float = 1.0) -> float:
    """Share of the cores that others use now. HTTP waits for a core where SQL waits for the disk: ratios suffer."""
    before = _ticks()
    sleep(seconds)
    busy, idle = (now - then for now, then in zip(_ticks(), before, strict=True))
    return busy / (busy + idle) if busy + idle else 0.0


def _ticks() -> tuple[int, int]:
    """Ticks spent busy and idle since the start, on all cores; nothing where the system does not say."""
    file = Path("/proc/stat")
    if not file.exists():
        return 0, 0
    ticks = [int(word) for word in file.read_text().split("\n", 1)[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    return sum(ticks) - idle, idle


def show(title: str, figures: list[Figure], *, as_json: bool) -> None:
    """The figures on standard output, as a table or as one line of JSON."""
    if as_json:
        print(json.dumps({"title": title, "figures": [asdict(f) | {"verdict": f.verdict} for f in figures]}))
        return
    table = Table(title=title, title_justify="left")
    for heading in ("figure", "value", "against", "ratio", "required", "aim", "reached"):
        table.add_column(heading, justify="left" if heading in {"figure", "against", "reached"} else "right")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{_number(figure.value)} {figure.unit}",
            figure.against,
            *(_number(value) if value is not None else "" for value in (figure.ratio, figure.required, figure.aim)),
            figure.verdict,
        )
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def note(text: str) -> None:
    """Says on standard error what is being done."""
    print(text, file=sys.stderr, flush=True)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
