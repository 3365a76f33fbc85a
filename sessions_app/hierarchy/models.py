"""Tenants, projects, sessions and the edges between sessions (domain.md §3)."""

from datetime import datetime
from typing import Any, Self

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db import connection, models
from django.db.models import CheckConstraint, Exists, F, Index, OuterRef, Q, UniqueConstraint
from django.db.models.expressions import RawSQL
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce

from sessions_app.hierarchy.rules import (
    COMPLETION_MODES,
    EDGE_KINDS,
    FAILURE_MODES,
    MAX_TREE_DEPTH,
    SESSION_STATUSES,
    SUB_SESSION_STATUSES,
)
from sessions_app.tenancy import NewestFirst, PublicIdField, SameTenant, TenantQuerySet, older

_ANCESTRY = """
    WITH RECURSIVE up(id, steps) AS (
        SELECT %s::bigint, 0
        UNION ALL
        SELECT edge.parent_id, up.steps + 1
        FROM up JOIN sessions_app_subsession edge ON edge.child_id = up.id
        WHERE up.steps < %s
    )
    SELECT id FROM up
"""
# Counting stops at a limit, so that no page grows slower with its tenant. The order, of no use for a count, makes the
# planner enter by an index: it takes rare rows for common ones and would read the whole table until it has enough.
_SIZES = {
    "project_count": """
        SELECT count(*) FROM (
            SELECT FROM sessions_app_project p
            WHERE p.tenant_id = sessions_app_tenant.id ORDER BY p.created_at DESC LIMIT %s
        ) counted""",
    "session_count": """
        SELECT count(*) FROM (
            SELECT FROM sessions_app_session s
            WHERE s.tenant_id = sessions_app_tenant.id ORDER BY s.created_at DESC LIMIT %s
        ) counted""",
}
_COUNTS = """
    SELECT scope.project_id, state.status, found.number
    FROM unnest(%s::bigint[]) scope(project_id), unnest(%s::varchar[]) state(status), LATERAL (
        SELECT count(*) AS number FROM (
            SELECT FROM sessions_app_session s
            WHERE s.tenant_id = %s::bigint AND s.status = state.status{narrowed}
            ORDER BY s.created_at DESC LIMIT %s::bigint
        ) counted
    ) found
"""
# Each list ends at its limit by itself: a session with 100,000 children costs what one with a hundred does.
_FIRST_CHILDREN = """
    SELECT edge.id FROM unnest(%s::bigint[]) AS above(id)
    CROSS JOIN LATERAL (
        SELECT id FROM sessions_app_subsession WHERE parent_id = above.id ORDER BY spawned_at, public_id LIMIT %s
    ) AS edge
"""


def _search_vector() -> SearchVector:
    return SearchVector("label", "first_user_line", config="simple")


def _query(sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def _parent(to: str, **kwargs: Any) -> "models.ForeignKey[Any, Any]":
    """A reference within the tenant: the constraint beside it is composite, so Django makes none of its own."""
    return models.ForeignKey(to, models.PROTECT, **{"db_constraint": False, "db_index": False, **kwargs})


class Tenants(models.QuerySet["Tenant"]):
    """The read side of tenants."""

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")

    def behind(self, created_at: datetime, pk: int) -> Self:
        """The tenants after this place of the list."""
        return self.filter(older(created_at, pk))

    def named(self, text: str) -> Self:
        """Tenants whose name has this text in it, or whose id begins with it."""
        return self.filter(Q(name__icontains=text) | Q(public_id__startswith=text))

    def with_size(self, *, most: int) -> Self:
        """Adds `project_count` and `session_count`, each counted up to `most`."""
        number = models.BigIntegerField()
        sizes = {name: RawSQL(sql, [most], number) for name, sql in _SIZES.items()}  # noqa: S611 - the constants above
        return self.annotate(**sizes)


class Tenant(models.Model):
    """The isolation boundary."""

    public_id = PublicIdField(unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField()

    objects = Tenants.as_manager()

    def __str__(self) -> str:
        return self.name or self.public_id


class ProjectQuerySet(NewestFirst["Project"]):
    """The read side of projects."""


class Project(models.Model):
    """A body of work in a tenant, with the limits that hold for its sessions; `config` has the defaults filled in."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, db_index=False, related_name="projects")
    public_id = PublicIdField()
    name = models.CharField(max_length=200)
    config = models.JSONField()
    extra = models.JSONField(default=dict)  # fields of an imported record that are not known here
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints = [
            UniqueConstraint(fields=["tenant", "public_id"], name="project_id_taken"),
            UniqueConstraint(fields=["tenant", "id"], name="project_in_tenant"),
        ]
        indexes = [Index("tenant", F("created_at").desc(), F("id").desc(), name="project_newest")]

    def __str__(self) -> str:
        return self.name or self.public_id


class SessionQuerySet(NewestFirst["Session"]):
    """The read side of sessions."""

    def owned_by(self, kind: str, ref: str) -> Self:
        """Sessions whose current actor is this one."""
        return self.filter(owner_kind=kind, owner_ref=ref)

    def in_tree_of(self, root_id: int) -> Self:
        return self.filter(root_id=root_id)

    def roots(self) -> Self:
        return self.filter(depth=0)

    def matching(self, text: str) -> Self:
        """Sessions whose label or first user line has all these words, or whose id begins like this."""
        text = text.replace("\0", " ").strip()
        words = text.replace("'", " ").replace("\\", " ").split()
        query = SearchQuery(" & ".join(f"'{word}':*" for word in words), search_type="raw", config="simple")
        found = Q(public_id__gte=text, public_id__lt=f"{text}~")
        if words:
            return self.annotate(_search=_search_vector()).filter(found | Q(_search=query))
        return self.filter(found)

    @staticmethod
    def count_by_status(tenant_id: int, *, most: int) -> dict[str, int]:
        """Number of the tenant's sessions per status, each counted up to `most`."""
        rows = _query(_COUNTS.format(narrowed=""), [[0], list(SESSION_STATUSES), tenant_id, most])
        return {status: number for _, status, number in rows}

    @staticmethod
    def count_in_projects(tenant_id: int, project_ids: list[int], *, most: int) -> dict[int, dict[str, int]]:
        """Number of sessions per project and status, each counted up to `most`."""
        narrowed = " AND s.project_id = scope.project_id"
        counts: dict[int, dict[str, int]] = {project_id: {} for project_id in project_ids}
        for project_id, status, number in _query(
            _COUNTS.format(narrowed=narrowed), [project_ids, list(SESSION_STATUSES), tenant_id, most]
        ):
            counts[project_id][status] = number
        return counts

    def with_lineage_of(self, session: "Session") -> Self:
        """The session's ancestors and itself, root first, by walking the edges up; at most as deep as a tree may be."""
        ancestry = RawSQL(_ANCESTRY, [session.pk, MAX_TREE_DEPTH])  # noqa: S611 - the text is the constant above
        return self.filter(pk__in=ancestry).order_by("depth")

    def in_walk_order(self) -> Self:
        """As a walk of the tree meets them: each session before its children, these by spawnedAt, then id."""
        return self.order_by("root_id", "path")

    def below(self, session: "Session", *, levels: int | None = None) -> Self:
        """The session and everything under it, down to `levels` further levels."""
        # A range, not LIKE: a prepared plan can use the index. '~' sorts after every character of a path.
        found = self.filter(root_id=session.root_id, path__gte=session.path, path__lt=f"{session.path}~")
        return found if levels is None else found.filter(depth__lte=session.depth + levels)

    def with_shape(self) -> Self:
        """Adds `has_children`, and joins project and parent edge: what a list row needs."""
        return self.annotate(has_children=Exists(SubSession.objects.filter(parent_id=OuterRef("pk")))).select_related(
            "project", "parent_edge"
        )


class Session(models.Model):
    """A line of work owned by one actor at a time.

    `root`, `depth` and `path` are its lineage: sorted by (root, path) the sessions of a tree stand as a walk would meet
    them. `last_seq` counts its messages. None of the columns an append touches is indexed, so that the update stays on
    its page.
    """

    tenant = _parent("sessions_app.Tenant", related_name="sessions")  # the composite keys below hold it in place
    project = _parent("sessions_app.Project", related_name="sessions")
    public_id = PublicIdField()
    label = models.CharField(max_length=200, null=True)
    status = models.CharField(max_length=16, default="idle")
    current_actor = models.JSONField(null=True)
    owner_kind = models.GeneratedField(
        expression=KeyTextTransform("kind", "current_actor"),
        output_field=models.TextField(null=True, db_collation="C"),
        db_persist=True,
    )
    owner_ref = models.GeneratedField(
        expression=Coalesce(
            KeyTextTransform("userId", "current_actor"),
            KeyTextTransform("agentId", "current_actor"),
            KeyTextTransform("role", "current_actor"),
        ),
        output_field=models.TextField(null=True, db_collation="C"),
        db_persist=True,
    )
    previous_actors = models.JSONField(default=list)
    workspace_ref = PublicIdField(null=True)
    owner_version = models.PositiveBigIntegerField(default=0)
    root = _parent("self", related_name="+")
    depth = models.PositiveSmallIntegerField(default=0)
    path = models.TextField(default="", db_collation="C")
    last_seq = models.PositiveBigIntegerField(default=0)
    last_message_at = models.DateTimeField(null=True)
    first_user_line = models.CharField(max_length=200, null=True)
    sealed_at = models.DateTimeField(null=True)
    extra = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = SessionQuerySet.as_manager()
    parent_edge: "SubSession"
    has_children: bool

    class Meta:
        constraints = [
            UniqueConstraint(fields=["tenant", "public_id"], name="session_id_taken"),
            UniqueConstraint(fields=["tenant", "id"], name="session_in_tenant"),
            UniqueConstraint(fields=["root", "path"], name="session_place_in_tree"),
            SameTenant(field="project", to="sessions_app_project", name="session_project_same_tenant"),
            SameTenant(field="root", to="sessions_app_session", name="session_root_same_tenant"),
            CheckConstraint(condition=Q(status__in=SESSION_STATUSES), name="session_status"),
            CheckConstraint(
                condition=Q(depth=0, path="", root=F("id")) | (Q(depth__gt=0) & ~Q(path="") & ~Q(root=F("id"))),
                name="session_lineage",
            ),
        ]
        indexes = [
            Index("tenant", F("created_at").desc(), F("id").desc(), name="session_newest"),
            Index("tenant", "project", F("created_at").desc(), F("id").desc(), name="session_of_project"),
            Index("tenant", "status", F("created_at").desc(), F("id").desc(), name="session_by_status"),
            Index("tenant", "owner_kind", "owner_ref", F("created_at").desc(), F("id").desc(), name="session_by_owner"),
            Index("tenant", F("created_at").desc(), F("id").desc(), condition=Q(depth=0), name="session_roots"),
            Index(
                "project", F("created_at").desc(), F("id").desc(), condition=Q(depth=0), name="session_roots_of_project"
            ),
            GinIndex(_search_vector(), name="session_search"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def title(self) -> str:
        """What people call it: the label, else the first user line, else the id."""
        return self.label or self.first_user_line or self.public_id


class SubSessionQuerySet(TenantQuerySet["SubSession"]):
    """The read side of edges."""

    def children_of(self, session_id: int) -> Self:
        """The edges below a session, with child, parent session joined: by spawnedAt, then id (§3)."""
        return self.filter(parent_id=session_id).with_ends().order_by("spawned_at", "public_id")

    def first_children_of(self, session_ids: list[int], limit: int) -> Self:
        """Of each of these sessions the first edges, at most `limit`, in the order of `children_of`; ends joined."""
        first = RawSQL(_FIRST_CHILDREN, [session_ids, limit])  # noqa: S611 - the text is the constant above
        return self.filter(pk__in=first).with_ends().order_by("parent_id", "spawned_at", "public_id")

    def with_shape(self) -> Self:
        """Adds `child_has_children`."""
        below = SubSession.objects.filter(parent_id=OuterRef("child_id"))
        return self.annotate(child_has_children=Exists(below))

    def with_ends(self) -> Self:
        return self.select_related("parent", "child")

    def after(self, spawned_at: datetime, public_id: str) -> Self:
        """The siblings behind this place."""
        later = Q(spawned_at__gt=spawned_at) | Q(spawned_at=spawned_at, public_id__gt=public_id)
        return self.filter(later, spawned_at__gte=spawned_at)


class SubSession(models.Model):
    """The edge between a parent and a child session. At most one per child, so a session has one parent."""

    tenant = _parent("sessions_app.Tenant", related_name="+")
    public_id = PublicIdField()
    parent = _parent("sessions_app.Session", related_name="child_edges")
    child: "models.OneToOneField[Any, Any]" = models.OneToOneField(
        "sessions_app.Session", models.PROTECT, db_constraint=False, related_name="parent_edge"
    )
    kind = models.CharField(max_length=16)
    status = models.CharField(max_length=16, default="pending")
    spawned_by = models.JSONField()
    spawned_at = models.DateTimeField()
    failure_mode = models.CharField(max_length=16, default="delegate")
    completion_mode = models.CharField(max_length=16, default="summary_ref")
    workspace_ref = PublicIdField(null=True)
    prev_artifact_ref = models.JSONField(null=True)
    broadcast_group_id = PublicIdField(null=True)
    summary_ref = PublicIdField(null=True)
    archive_ref = PublicIdField(null=True)
    archived_at = models.DateTimeField(null=True)
    extra = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    objects = SubSessionQuerySet.as_manager()
    child_has_children: bool

    class Meta:
        constraints = [
            UniqueConstraint(fields=["tenant", "public_id"], name="sub_session_id_taken"),
            UniqueConstraint(fields=["tenant", "id"], name="sub_session_in_tenant"),
            SameTenant(field="parent", to="sessions_app_session", name="sub_session_parent_same_tenant"),
            SameTenant(field="child", to="sessions_app_session", name="sub_session_child_same_tenant"),
            CheckConstraint(condition=~Q(parent=F("child")), name="sub_session_not_its_own_child"),
            CheckConstraint(condition=Q(kind__in=EDGE_KINDS), name="sub_session_kind"),
            CheckConstraint(condition=Q(status__in=SUB_SESSION_STATUSES), name="sub_session_status"),
            CheckConstraint(condition=Q(failure_mode__in=FAILURE_MODES), name="sub_session_failure_mode"),
            CheckConstraint(condition=Q(completion_mode__in=COMPLETION_MODES), name="sub_session_completion_mode"),
        ]
        indexes = [Index("parent", "spawned_at", "public_id", name="sub_session_children")]

    def __str__(self) -> str:
        return self.public_id
