"""A stretch of a transcript: fifty messages by number, each call with its result, whatever the session's length."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import QuerySet

from sessions_app.hierarchy.models import Session
from sessions_app.wire.errors import NotFound
from stores_app.session.models import Message, MessageQuerySet
from stores_app.session.pairing import REACH, Pairing, Place, ToolFacts, pair_calls
from stores_app.session.rendering import articles

PAGE = 50
_BEFORE_TARGET = 15  # messages shown above the one that a permalink names
_SLOT = re.compile(r'<!--(state|result|alone):?(\d{0,4})-->|<details class="call" data-call="(\d{1,4})"')
_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"))


class Row(NamedTuple):
    """What is known of a message without its text."""

    seq: int
    public_id: str
    role: str
    at: datetime
    tool_call_id: str | None
    call_ids: list[str] | None


@dataclass(frozen=True, slots=True)
class Window:
    """Where to read: behind a number, before one, around a message, or the end; by default the beginning."""

    after: int | None = None
    before: int | None = None
    at: str | None = None
    last: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """The messages of a window: their HTML in order, and the numbers of the first and the last."""

    html: list[str] = field(default_factory=list)
    first: int = 0
    last: int = 0
    count: int = 0
    with_calls_before: int = 0

    @property
    def has_earlier(self) -> bool:
        return self.first > 1

    @property
    def has_later(self) -> bool:
        return 0 < self.last < self.count


@dataclass(frozen=True, slots=True)
class _Company:
    """The window's neighbourhood: rows by number, who answers whom, and the HTML."""

    rows: dict[int, Row]
    pairing: Pairing
    html: dict[int, str]
    target: int | None


def read_stretch(session: Session, window: Window) -> Stretch:
    """The stretch, in the same number of queries wherever it lies; raises NotFound where `at` names no message."""
    target = _find(session.pk, window.at) if window.at is not None else None
    rows = _rows(session.pk, window, target)
    if not rows:
        return Stretch(count=session.last_seq)
    first, last = rows[0].seq, rows[-1].seq
    tools = _tools(session.pk, first - REACH, last + REACH)
    pairing = pair_calls(_facts(tools))
    shown = [row for row in rows if row.seq not in pairing.call_of]
    results = {seq for place, seq in pairing.result_of.items() if first <= place.seq <= last}
    known = {row.seq: row for row in tools} | {row.seq: row for row in rows}
    html = articles(session.pk, {row.seq for row in shown} | results)
    company = _Company(known, pairing, html, target.seq if target else None)
    return Stretch(
        html=[_compose(row, company) for row in shown],
        first=first,
        last=last,
        count=max(session.last_seq, last),
        with_calls_before=sum(place.seq < first <= seq <= last for seq, place in pairing.call_of.items()),
    )


def _find(session_id: int, public_id: str) -> Row:
    found = None
    if "\0" not in public_id:
        found = _select(Message.objects.of_session(session_id).filter(public_id=public_id)).first()
    if found is None:
        raise NotFound("message", public_id)
    return Row._make(found)


def _rows(session_id: int, window: Window, target: Row | None) -> list[Row]:
    messages = Message.objects.of_session(session_id)
    if window.last or window.before is not None:
        nearest = messages.order_by("-seq") if window.before is None else messages.before(window.before)
        return [Row._make(row) for row in _select(nearest)[:PAGE]][::-1]
    after = window.after or 0
    if target is not None:
        after = max(_seat(session_id, target) - _BEFORE_TARGET - 1, 0)
    return [Row._make(row) for row in _select(messages.after(after))[:PAGE]]


def _seat(session_id: int, target: Row) -> int:
    """The number under which the message is shown: a result's is its call's."""
    if target.role != "tool" or target.tool_call_id is None:
        return target.seq
    pairing = pair_calls(_facts(_tools(session_id, target.seq - REACH, target.seq)))
    return pairing.call_of.get(target.seq, Place(target.seq, 0)).seq


def _tools(session_id: int, first: int, last: int) -> list[Row]:
    tools = Message.objects.of_session(session_id).with_tools_between(first, last)
    return [Row._make(row) for row in _select(tools)]


def _select(messages: "MessageQuerySet") -> "QuerySet[Message, tuple[object, ...]]":
    return messages.values_list(*Row._fields)


def _facts(rows: Iterable[Row]) -> Iterable[ToolFacts]:
    for row in rows:
        yield ToolFacts(row.seq, row.call_ids or (), row.tool_call_id if row.role == "tool" else None)


def _compose(row: Row, company: _Company) -> str:
    """The message's HTML with its slots filled."""

    def fill(match: re.Match[str]) -> str:
        kind, index, call = match.groups()
        if kind == "alone":
            return _alone_note(row, company.pairing)
        result = company.pairing.result_of.get(Place(row.seq, int(index or call)))
        if call:
            return f"{match[0]} open" if result is not None and result == company.target else match[0]
        if kind == "state":
            return _state(row.at, company.rows[result].at if result is not None else None)
        return _SLOT.sub("", company.html.get(result, "")) if result is not None else ""

    return _SLOT.sub(fill, company.html.get(row.seq, ""))


def _alone_note(row: Row, pairing: Pairing) -> str:
    if row.tool_call_id is None:
        text = "It names no call."
    elif row.seq in pairing.late:
        text = "Another result for this call came first."
    else:
        text = f"The call it answers is not among the {REACH} messages before it."
    return f'<p class="message-note">{text}</p>'


def _state(called_at: datetime, answered_at: datetime | None) -> str:
    if answered_at is None:
        return '<span class="call-state call-state--none">no result</span>'
    return f'<span class="call-state">{_duration(answered_at - called_at)}</span>'


def _duration(taken: timedelta) -> str:
    seconds = max(taken.total_seconds(), 0)
    if seconds < 10:
        return f"{seconds:.1f} s"
    size, unit = next(((size, unit) for limit, size, unit in _STEPS if seconds < limit), (86400, "d"))
    return f"{seconds // size:.0f} {unit}"
