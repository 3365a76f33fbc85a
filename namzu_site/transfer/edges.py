"""The edges of a tree: collected while its sessions come in, linked when all of them are there.

They are linked in the order in which they were made, whatever order the directories have: so of two parents the first
one stays, and of the edges of a cycle the one that closed it is left out. A temporary table holds them meanwhile,
which is gone with the connection.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from namzu_site.transfer.tree import (
    TreeImport,
    differing,
    file_in,
    kept_session_id,
    refusals_reported,
    report_missing,
)
from sessions_app.hierarchy.actions import link_session
from sessions_app.hierarchy.errors import AlreadyLinked, AncestryCycle, IdTaken, TreeTooDeep
from sessions_app.hierarchy.models import Project, Session, SubSession
from stores_app.disk import (
    SUB_SESSION_FILE,
    SUB_SESSIONS,
    DamagedRecord,
    Folder,
    RefusedFile,
    SubSessionRecord,
    read_sub_session,
)

_AT_ONCE = 500


class _Queued(NamedTuple):
    spawned_at: datetime
    public_id: str
    file: str
    project_id: str
    data: bytes


class _End(NamedTuple):
    pk: int
    project_pk: int


@dataclass
class EdgeQueue:
    """The edges met so far; at most a few hundred of them are in memory."""

    tree: TreeImport
    count: int = 0
    _waiting: list[_Queued] = field(default_factory=list)

    def __post_init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS imported_edge")
            cursor.execute(
                """
                CREATE TEMPORARY TABLE imported_edge
                    (spawned_at timestamptz, public_id text, file text, project_id text, data bytea)
                """
            )

    def collect(self, project: Project, session: Folder) -> None:
        """Queues the edges below a session's folder."""
        try:
            folder = session.folder(SUB_SESSIONS)
        except RefusedFile:  # the inventory tells of it
            return
        if folder is None:
            return
        with folder:
            for name, kind in folder.entries():
                if kind == "folder":
                    self._collect_one(project, session.path.name, folder, name)

    def _collect_one(self, project: Project, session_id: str, parent: Folder, name: str) -> None:
        findings = self.tree.report.reported
        try:
            folder = parent.folder(name)
            if folder is None:
                return
            with folder:
                file = file_in(folder, SUB_SESSION_FILE)
                data = folder.read(SUB_SESSION_FILE)
                if data is None:
                    report_missing(findings, folder.path, SUB_SESSION_FILE)
                    return
                record = read_sub_session(data, file)
        except DamagedRecord as damage:
            findings.add_damage(damage)
            return
        if record.id != name:
            findings.add(file, "id", f"{record.id} is not the name of its folder", "damaged")
        elif record.parent_session_id != session_id:
            reason = f"{record.parent_session_id} is not the session it lies in"
            findings.add(file, "parentSessionId", reason, "damaged")
        elif record.tenant_id != project.tenant.public_id:
            findings.add(file, "tenantId", f"{record.tenant_id} is not the project's tenant", "isolation")
        else:
            self._put(_Queued(record.spawned_at, record.id, file, project.public_id, data))

    def _put(self, edge: _Queued) -> None:
        self._waiting.append(edge)
        self.count += 1
        if len(self._waiting) >= _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO imported_edge VALUES (%s, %s, %s, %s, %s)", self._waiting)
        self._waiting = []

    def in_order(self) -> Iterator[list[_Queued]]:
        """All of them, the oldest first, some at a time."""
        self._flush()
        with connection.cursor() as cursor:
            cursor.execute("CREATE INDEX ON imported_edge (spawned_at, public_id, file)")
        behind: tuple[Any, ...] = (datetime.min.replace(tzinfo=self.tree.now.tzinfo), "", "")
        while True:
            with connection.cursor() as cursor:
                cursor.execute(
                    """
                    SELECT * FROM imported_edge WHERE (spawned_at, public_id, file) > (%s, %s, %s)
                    ORDER BY spawned_at, public_id, file LIMIT %s
                    """,
                    [*behind, _AT_ONCE],
                )
                some = [_Queued._make(row) for row in cursor.fetchall()]
            if not some:
                return
            yield some
            behind = some[-1][:3]


def link_edges(tree: TreeImport, queue: EdgeQueue) -> None:
    """Links the queued edges, each in its own transaction; what cannot be linked is reported."""
    tree.progress.linking(queue.count)
    for some in queue.in_order():
        records = [(edge, read_sub_session(edge.data, edge.file)) for edge in some]
        tenants = {tree.projects[edge.project_id].tenant_id for edge in some}
        ends = _ends(tenants, records)
        known = {
            (row.tenant_id, row.public_id): row
            for row in SubSession.objects.filter(tenant_id__in=tenants, public_id__in=[edge.public_id for edge in some])
        }
        for edge, record in records:
            row = known.get((tree.projects[edge.project_id].tenant_id, record.id))
            _take_edge(tree, edge, record, ends, row)
            tree.progress.link_done()


def _ends(tenants: set[int], records: list[tuple[_Queued, SubSessionRecord]]) -> dict[tuple[int, str], _End]:
    ids = {
        kept_session_id(edge.project_id, id_)
        for edge, record in records
        for id_ in (record.parent_session_id, record.child_session_id)
    }
    rows = Session.objects.filter(tenant_id__in=tenants, public_id__in=ids)
    return {
        (tenant_id, public_id): _End(pk, project_pk)
        for tenant_id, public_id, pk, project_pk in rows.values_list("tenant_id", "public_id", "pk", "project_id")
    }


def _take_edge(
    tree: TreeImport,
    edge: _Queued,
    record: SubSessionRecord,
    ends: dict[tuple[int, str], _End],
    known: SubSession | None,
) -> None:
    project, findings = tree.projects[edge.project_id], tree.report.reported
    parent = _end(tree, edge, ends, record.parent_session_id)
    child = _end(tree, edge, ends, record.child_session_id)
    if parent is None or parent.project_pk != project.pk:
        findings.add(edge.file, "parentSessionId", f"{record.parent_session_id} was left out", "lineage")
    elif child is None:
        findings.add(edge.file, "childSessionId", f"{record.child_session_id} is not there", "lineage")
    elif parent.pk == child.pk:
        findings.add(edge.file, "childSessionId", f"{record.child_session_id} is its own parent", "lineage")
    else:
        values = _values(parent, child, record)
        with refusals_reported(findings, edge.file):
            if known is not None:
                _compare(tree, edge, known, values)
            else:
                fresh = SubSession(tenant_id=project.tenant_id, public_id=record.id, **values)
                _link(tree, edge, fresh, values)


def _end(tree: TreeImport, edge: _Queued, ends: dict[tuple[int, str], _End], session_id: str) -> _End | None:
    """The session of this name in the tree, None where it was left out."""
    if (edge.project_id, session_id) in tree.clashed:
        return None
    return ends.get((tree.projects[edge.project_id].tenant_id, kept_session_id(edge.project_id, session_id)))


def _link(tree: TreeImport, edge: _Queued, fresh: SubSession, values: dict[str, Any]) -> None:
    try:
        link_session(edge=fresh, by=tree.by, now=tree.now)
    except (AlreadyLinked, IdTaken, AncestryCycle, TreeTooDeep) as error:
        made = SubSession.objects.filter(tenant_id=fresh.tenant_id, public_id=fresh.public_id).first()
        if made is not None:  # somebody else was faster
            _compare(tree, edge, made, values)
        else:
            tree.report.reported.add(edge.file, "childSessionId", error.message, "lineage")
    else:
        tree.report.sub_sessions.imported += 1


def _compare(tree: TreeImport, edge: _Queued, known: SubSession, values: dict[str, Any]) -> None:
    names = differing(known, values)
    if known.parent_id != values["parent_id"] or known.child_id != values["child_id"]:
        reason = f"{known.public_id} is in use between other sessions; the first one is kept"
        tree.report.reported.add(edge.file, "id", reason, "duplicate")
    elif names:
        reason = f"is known with another {names}; it is left as it is here"
        tree.report.reported.add(edge.file, "", reason, "differs")
        tree.report.sub_sessions.differs += 1
    else:
        tree.report.sub_sessions.unchanged += 1


def _values(parent: _End, child: _End, record: SubSessionRecord) -> dict[str, Any]:
    """The columns an edge's record gives."""
    return {
        "parent_id": parent.pk,
        "child_id": child.pk,
        "kind": record.kind,
        "status": record.status,
        "spawned_by": record.spawned_by,
        "spawned_at": record.spawned_at,
        "failure_mode": record.failure_mode,
        "completion_mode": record.completion_mode,
        "workspace_ref": record.workspace_id,
        "prev_artifact_ref": record.prev_artifact_ref,
        "broadcast_group_id": record.broadcast_group_id,
        "summary_ref": record.summary_ref,
        "archive_ref": record.archive_ref,
        "archived_at": record.archived_at,
        "extra": record.extra,
        "updated_at": record.updated_at,
    }
