"""What a jsonb column does to a value: some it cannot hold, and numbers it may write anew."""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

_IMPOSSIBLE = re.compile("[\0\ud800-\udfff]")


def can_hold(value: Any) -> bool:
    """Whether a jsonb column can: no text in it, names included, has a NUL or half of a surrogate pair."""
    return all(_fits(inner) for _, inner in _walk(value))


def nesting(value: Any) -> int:
    """How many arrays and objects stand inside each other at most."""
    return max(level for level, _ in _walk(value))


def given_back(value: Any) -> Any:
    """The value with its numbers as a jsonb column may give them back: 1e23 as the whole number it says, 4.0 as 4."""
    if isinstance(value, dict):
        return {name: given_back(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [given_back(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(Decimal(repr(value)))
    return value


def _walk(value: Any) -> Iterator[tuple[int, Any]]:
    """The value and everything in it, names too, each with its level: without recursion, so of any depth."""
    waiting: list[tuple[int, Any]] = [(0, value)]
    while waiting:
        level, inner = waiting.pop()
        if isinstance(inner, dict):
            level += 1
            waiting.extend((level, item) for pair in inner.items() for item in pair)
        elif isinstance(inner, list):
            level += 1
            waiting.extend((level, item) for item in inner)
        yield level, inner


def _fits(value: Any) -> bool:
    if isinstance(value, str):
        return _IMPOSSIBLE.search(value) is None
    return not isinstance(value, float) or math.isfinite(value)
