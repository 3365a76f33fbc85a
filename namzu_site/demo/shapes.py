"""What a demo fleet is described with: projects, sessions as trees, and who owns them."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

TENANT_ID = "tnt_demo"
TENANT_NAME = "Demo fleet"
LONG = "long"  # the transcript that is made, not read


@dataclass(frozen=True, slots=True)
class Edge:
    """How a session hangs below its parent."""

    kind: str = "agent_spawn"
    status: str = "idle"
    failure_mode: str = "delegate"
    completion_mode: str = "summary_ref"
    broadcast: str | None = None
    answers: str | None = None  # file of the work before it that an intervention comes back to


@dataclass(frozen=True, slots=True)
class Work:
    """A short piece of work: what was asked, one command with what it printed, and the answer."""

    asked: str
    command: str
    printed: str
    answer: str


@dataclass(frozen=True, slots=True)
class Node:
    """One session, and below it its children.

    `name` makes the ids, `transcript` names a file of texts/, `began` is how long before now the session began,
    `previous` are its owners before the current one.
    """

    name: str
    label: str | None
    owner: dict[str, Any] | None
    began: timedelta
    status: str = "idle"
    edge: Edge = field(default_factory=Edge)
    transcript: str | None = None
    work: Work | None = None
    previous: tuple[dict[str, Any], ...] = ()
    children: tuple["Node", ...] = ()

    def count(self) -> int:
        """The session and all below it."""
        return 1 + sum(child.count() for child in self.children)


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    """A project and the trees in it."""

    name: str
    title: str
    config: dict[str, Any]
    began: timedelta
    trees: tuple[Node, ...]


def user(name: str) -> dict[str, Any]:
    """A person."""
    return {"kind": "user", "userId": f"usr_{name}", "tenantId": TENANT_ID}


def agent(name: str, started_by: dict[str, Any] | None = None) -> dict[str, Any]:
    """An agent, with the chain back to who started it."""
    actor = {"kind": "agent", "agentId": f"agt_{name}", "tenantId": TENANT_ID}
    return {**actor, "parentActor": started_by} if started_by else actor


def system(role: str) -> dict[str, Any]:
    """A part of the installation that acts by itself."""
    return {"kind": "system", "role": f"sys_{role}", "tenantId": TENANT_ID}


def ago(*, days: float = 0, hours: float = 0, minutes: float = 0) -> timedelta:
    """How long before now."""
    return timedelta(days=days, hours=hours, minutes=minutes)
