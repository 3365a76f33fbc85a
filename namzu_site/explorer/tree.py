"""The tree of sessions as the left pane shows it: levels of bounded length, opened along the way to one session."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sessions_app.hierarchy.models import Session, SubSession
from sessions_app.wire.cursors import encode_cursor

CHILDREN = 100  # of one session that are shown at once
ROOTS = 50
_KINDS_WORTH_A_WORD = ("user_handoff", "intervention")


@dataclass(slots=True)
class Branch:
    """A stretch of siblings, and the cursor for more where there are more."""

    nodes: list["Node"] = field(default_factory=list)
    more: str | None = None
    parent_id: str | None = None


@dataclass(slots=True)
class Node:
    """A session in the tree. `branch` is set where it is open; a tombstone has a date and a reference."""

    session_id: str
    title: str
    status: str
    level: int
    has_children: bool
    kind: str | None = None
    archived_at: datetime | None = None
    archive_ref: str | None = None
    branch: Branch | None = None
    is_selected: bool = False

    @property
    def status_icon(self) -> str:
        return f"status-{self.status}"

    @property
    def is_tombstone(self) -> bool:
        return self.archived_at is not None


def children_branch(parent: Session, after: tuple[datetime, str] | None) -> Branch:
    """The children of a session, behind `after` where it is given."""
    edges = SubSession.objects.children_of(parent.pk).with_shape()
    if after is not None:
        edges = edges.after(*after)
    return _branch(list(edges[: CHILDREN + 1]), parent)


def roots_branch(sessions: Iterable[Session]) -> Branch:
    """Root sessions, of which one more was read than is shown."""
    rows = list(sessions)
    shown = rows[:ROOTS]
    more = encode_cursor(shown[-1].created_at, shown[-1].pk) if len(rows) > ROOTS else None
    return Branch([_root(row) for row in shown], more)


def open_path(roots: Branch, lineage: Sequence[Session]) -> Branch:
    """The roots with the tree open down to the last session of the lineage, whose own children are shown too."""
    if not any(node.session_id == lineage[0].public_id for node in roots.nodes):
        roots.nodes.insert(0, _root(lineage[0], has_children=len(lineage) > 1))
    edges = SubSession.objects.first_children_of([session.pk for session in lineage], CHILDREN + 1).with_shape()
    below = defaultdict(list)
    for edge in edges:
        below[edge.parent_id].append(edge)
    branch = roots
    for place, session in enumerate(lineage):
        node = next(node for node in branch.nodes if node.session_id == session.public_id)
        branch = _branch(below[session.pk], session)
        node.has_children = bool(branch.nodes)
        node.branch = branch if branch.nodes else None
        if place + 1 < len(lineage):
            _ensure(branch, lineage[place + 1])
        else:
            node.is_selected = True
    return roots


def _ensure(branch: Branch, session: Session) -> None:
    """The path goes on even where the session is far down its siblings: it then stands behind the first ones."""
    if not any(node.session_id == session.public_id for node in branch.nodes):
        branch.nodes.append(_node(session.parent_edge, session, has_children=True))


def _branch(edges: Sequence[SubSession], parent: Session) -> Branch:
    shown = edges[:CHILDREN]
    more = encode_cursor(shown[-1].spawned_at, shown[-1].public_id) if len(edges) > CHILDREN else None
    nodes = [_node(edge, edge.child, has_children=edge.child_has_children) for edge in shown]
    return Branch(nodes, more, parent.public_id)


def _node(edge: SubSession, session: Session, *, has_children: bool) -> Node:
    is_archived = edge.status == "archived"
    return Node(
        session_id=session.public_id,
        title=session.title,
        status="archived" if is_archived else session.status,
        level=session.depth + 1,
        has_children=has_children,
        kind=edge.kind if edge.kind in _KINDS_WORTH_A_WORD else None,
        archived_at=edge.archived_at if is_archived else None,
        archive_ref=edge.archive_ref if is_archived else None,
    )


def _root(session: Session, *, has_children: bool | None = None) -> Node:
    known = session.has_children if has_children is None else has_children
    return Node(session.public_id, session.title, session.status, level=1, has_children=known)
