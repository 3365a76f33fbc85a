"""Each benchmark runs, with hardly any work: it is there when it is needed. What it measures here says nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.load import DEPTH, WIDTH, plant
from benchmarks.timing import Figure, interleave, median_of_rounds, percentile

ROOT = Path(__file__).resolve().parent.parent.parent
TINY = (
    "--json", "--rounds=1", "--singles=16", "--batches=1", "--sessions", "60", "120", "--drills=3",
    "--messages=120", "--pages=3",
)  # fmt: skip


def test_all_of_them_run() -> None:
    command = [sys.executable, "-m", "benchmarks.run", *TINY, "--database-url", os.environ["DATABASE_URL"]]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NAMZU_")}
    environment["NAMZU_WEB_WORKERS"] = "1"
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    tables = [json.loads(line) for line in done.stdout.splitlines()]
    assert [len(table["figures"]) for table in tables] == [9, 10, 8]
    assert all(figure["value"] > 0 for table in tables for figure in table["figures"])


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 73, 74, 4681, 4682, 5000])
def test_planted_trees_are_whole(count: int) -> None:
    planted = {one.pk: one for one in plant(count)}
    assert list(planted) == list(range(1, count + 1))
    children: dict[int, int] = {}
    for one in planted.values():
        assert one.depth <= DEPTH
        if one.parent is None:
            assert (one.depth, one.path, one.root) == (0, "", one.pk)
            continue
        parent = planted[one.parent]
        children[parent.pk] = children.get(parent.pk, 0) + 1
        assert (one.root, one.depth) == (parent.root, parent.depth + 1)
        assert one.path.startswith(parent.path)
    assert all(width <= WIDTH for width in children.values())


def test_parts_take_turns_and_the_first_round_is_left_out() -> None:
    turns: list[str] = []

    def part(name: str) -> list[float]:
        turns.append(name)
        return [float(len(turns))]

    given = interleave(2, {"a": lambda: part("a"), "b": lambda: part("b")})
    assert turns == ["a", "b"] * 3
    assert given == {"a": [[3.0], [5.0]], "b": [[4.0], [6.0]]}
    assert median_of_rounds(given["a"], 0.5) == 4.0


def test_percentiles_are_by_nearest_rank() -> None:
    values = [float(number) for number in range(1, 101)]
    assert (percentile(values, 0.5), percentile(values, 0.95), percentile([7.0], 0.95)) == (51.0, 96.0, 7.0)


@pytest.mark.parametrize(
    ("ratio", "more_is_better", "verdict"),
    [(0.6, True, "aim"), (0.5, True, "required"), (0.3, True, "missed"), (0.3, False, "aim"), (0.6, False, "missed")],
)
def test_a_ratio_is_held_against_its_bounds(ratio: float, more_is_better: bool, verdict: str) -> None:
    required, aim = (0.4, 0.55) if more_is_better else (0.5, 0.4)
    figure = Figure("x", 1, "ms", "y", ratio, required, aim, more_is_better=more_is_better)
    assert figure.verdict == verdict
