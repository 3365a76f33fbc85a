"""Which tool message answers which call: a decision on plain values that is the same from every page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

REACH = 200  # messages between a call and its result, at most
MAX_CALLS = 200  # of one message that are paired and shown


class Place(NamedTuple):
    """One call: the message's number, and which of its calls."""

    seq: int
    call: int


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What pairing needs of a message: its number, the calls it makes, the call it answers (tool messages only)."""

    seq: int
    call_ids: Sequence[str] = ()
    answers: str | None = None


@dataclass(slots=True)
class Pairing:
    """The result of each answered call, the call of each result, and the results that came after another one."""

    result_of: dict[Place, int] = field(default_factory=dict)
    call_of: dict[int, Place] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)


def pair_calls(messages: Iterable[ToolFacts]) -> Pairing:
    """A call is answered by the first tool message with its id after it and before the next call with that id.

    `messages` in order of seq. Calls and results further apart than REACH are not paired, so that a window with REACH
    messages on either side decides as the whole transcript would.
    """
    pairing = Pairing()
    latest: dict[str, Place] = {}
    for message in messages:
        if message.answers is not None:
            _answer(pairing, latest.get(message.answers), message.seq)
        for call, call_id in enumerate(message.call_ids[:MAX_CALLS]):
            latest[call_id] = Place(message.seq, call)
    return pairing


def _answer(pairing: Pairing, call: Place | None, seq: int) -> None:
    if call is None or seq - call.seq > REACH:
        return
    if call in pairing.result_of:
        pairing.late.add(seq)
    else:
        pairing.result_of[call] = seq
        pairing.call_of[seq] = call
