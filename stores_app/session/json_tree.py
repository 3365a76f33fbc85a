"""JSON as a folding tree of `<details>`, numbers and key order as they were written, within a budget of characters."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any, NoReturn

from sessions_app.wire.errors import MalformedBody
from sessions_app.wire.json import check_depth
from sessions_app.wire.visible import visible_text

MOST_CHARACTERS = 1_048_576  # beyond this a text is not parsed to be looked at
_OPEN_LEVELS = 2
_OPEN_SIZE = 30
_NODE_COST = 24  # characters of the budget that a node takes by itself


class NotJson(ValueError):
    """The text is not JSON that can be shown as a tree."""


class Number(str):
    """A number as it was written."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object, duplicate keys and all."""

    __slots__ = ()


@dataclass(slots=True)
class Budget:
    """How many characters may still be shown; `cut` says that something was left out."""

    left: int
    cut: bool = field(default=False)

    def take(self, text: str) -> str:
        """As much of the text as may still be shown."""
        shown = text[: max(self.left, 0)]
        self.cut = self.cut or len(shown) < len(text)
        self.left -= len(shown) + _NODE_COST
        return shown


def read_tree(text: str) -> Any:
    """The value with its numbers, key order and duplicate keys kept; raises NotJson."""
    if len(text) > MOST_CHARACTERS:
        raise NotJson
    try:
        check_depth(text.encode("utf-8", "surrogatepass"))
        return json.loads(
            text, parse_float=Number, parse_int=Number, parse_constant=_refuse, object_pairs_hook=Pairs, strict=False
        )
    except (ValueError, MalformedBody):
        raise NotJson from None


def read_container(text: str) -> Any:
    """The object or array; raises NotJson for everything else, bare words and numbers included."""
    if text.lstrip()[:1] not in ("{", "["):
        raise NotJson
    return read_tree(text)


def tree(value: Any, budget: Budget) -> str:
    """The HTML of the tree; `budget` knows afterwards whether it is whole."""
    if isinstance(value, (Pairs, list)) and value:
        return f'<div class="json">{_items(value, 1, budget)}</div>'
    return f'<div class="json">{_scalar(value, budget)}</div>'


def _items(value: Any, level: int, budget: Budget) -> str:
    pairs: Iterable[tuple[str | int, Any]] = value if isinstance(value, Pairs) else enumerate(value)
    rows = []
    for shown, (key, item) in enumerate(pairs):
        if budget.left <= 0:
            budget.cut = True
            rows.append(f'<li class="json-more">{len(value) - shown:,} more</li>')
            break
        rows.append(f"<li>{_row(key, item, level, budget)}</li>")
    return f"<ul>{''.join(rows)}</ul>"


def _row(key: str | int, item: Any, level: int, budget: Budget) -> str:
    name = visible_text(budget.take(str(key)))
    label = f'<span class="{"json-index" if isinstance(key, int) else "json-key"}">{name}</span>'
    if not isinstance(item, (Pairs, list)) or not item:
        return f"{label} {_scalar(item, budget)}"
    size = f"{len(item):,} {'key' if isinstance(item, Pairs) else 'item'}{'' if len(item) == 1 else 's'}"
    is_open = " open" if level < _OPEN_LEVELS and len(item) <= _OPEN_SIZE else ""
    summary = f'<summary>{label} <span class="json-size">{size}</span></summary>'
    return f"<details{is_open}>{summary}{_items(item, level + 1, budget)}</details>"


def _scalar(value: Any, budget: Budget) -> str:
    if isinstance(value, Number):
        return f'<span class="json-number">{escape(budget.take(value))}</span>'
    if isinstance(value, str):
        shown = budget.take(value)
        more = "" if len(shown) == len(value) else "…"
        if "\n" in shown:  # a file, a patch, a letter: to be read, not decoded
            return f'<pre class="json-text">{visible_text(shown)}{more}</pre>'
        return f'<span class="json-string">{visible_text(shown)}{more}</span>'
    budget.take("")
    word = {None: "null", True: "true", False: "false"}.get(value) if isinstance(value, bool | None) else None
    return f'<span class="json-word">{word or ("{}" if isinstance(value, Pairs) else "[]")}</span>'


def _refuse(word: str) -> NoReturn:
    raise NotJson(word)
