"""What the right pane says of a session besides its messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.hierarchy.models import Session, SubSession

_MOST_NESTED = 32


@dataclass(frozen=True, slots=True)
class Owner:
    """One owner with the chain back to the person: the actor first, then its parents."""

    chain: list[dict[str, Any]]
    is_current: bool


def owners_of(session: Session) -> list[Owner]:
    """All owners, newest first; nobody is an owner too, while there is none."""
    earlier = [Owner(_chain(actor), is_current=False) for actor in reversed(session.previous_actors)]
    current = Owner(_chain(session.current_actor), is_current=True)
    return [current, *earlier]


def edge_of(session: Session) -> SubSession | None:
    """The edge that leads to the session; None for a root. It has been joined."""
    return getattr(session, "parent_edge", None)


def status_of(session: Session) -> str:
    """What the session's state is called: a tombstone is archived, whatever its row said last."""
    edge = edge_of(session)
    return "archived" if edge is not None and edge.status == "archived" else session.status


def _chain(actor: Any) -> list[dict[str, Any]]:
    chain: list[dict[str, Any]] = []
    while isinstance(actor, Mapping) and len(chain) < _MOST_NESTED:
        chain.append({name: value for name, value in actor.items() if name != "parentActor"})
        actor = actor.get("parentActor")
    return chain
