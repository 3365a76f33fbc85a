"""Projects, sessions and edges as they travel: what comes in, what goes out, and the one maker of each record."""

from typing import Annotated, Any, Literal

from ninja import Field
from pydantic import AfterValidator, StringConstraints

from sessions_app.hierarchy import examples as examples
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.hierarchy.rules import MAX_TREE_DEPTH
from sessions_app.hierarchy.shapes import Actor, ActorIn, ProjectConfig
from sessions_app.wire.schemas import (
    VISIBLE,
    In,
    Name,
    Out,
    Paging,
    TenantPath,
    Time,
    example,
    id_of,
    left_out,
    path_id,
    printable,
    whole,
)
from sessions_app.wire.times import to_wire

SessionStatus = Literal["active", "idle", "locked", "awaiting_hitl", "awaiting_merge", "failed", "archived"]
SubSessionStatus = Literal[
    "pending",
    "active",
    "idle",
    "failed",
    "awaiting_merge",
    "pending_merge",
    "merging",
    "merged",
    "merge_conflict",
    "merge_rejected",
    "archived",
]


EdgeKind = Literal["agent_spawn", "user_handoff", "intervention"]
FailureMode = Literal["delegate", "fail_fast"]
CompletionMode = Literal["summary_ref", "merge_back"]


# Null says the same as nothing at all.
_ONE_CHILD = [
    {"required": ["child"], "properties": {"child": {"type": "object"}, "childSessionId": {"type": "null"}}},
    {"required": ["childSessionId"], "properties": {"childSessionId": {"type": "string"}, "child": {"type": "null"}}},
]


class WorkspaceConfigIn(In):
    """Where the project's sessions get their workspaces."""

    backend: Literal["git-worktree", "directory"]
    repo_root: Annotated[str, StringConstraints(max_length=4096), AfterValidator(printable), VISIBLE] | None = None


class RetentionPolicyIn(In):
    """What becomes of quiet sub-sessions; everything absent means never."""

    idle_sub_session_ttl: whole(0, 2**53) | None = Field(None, alias="idleSubSessionTTL")  # type: ignore[valid-type]
    max_sub_sessions_per_project: whole(0, 2**31 - 1) | None = None  # type: ignore[valid-type]
    archive_backend: Annotated[str, StringConstraints(max_length=64), AfterValidator(printable), VISIBLE] | None = None


class ProjectConfigIn(In):
    """Limits and references of a project; what is absent gets the default (domain.md §3)."""

    max_delegation_depth: whole(0, MAX_TREE_DEPTH) = 4  # type: ignore[valid-type]
    max_delegation_width: whole(0, 100_000) = 8  # type: ignore[valid-type]
    max_intervention_depth: whole(0, 1_000) = 10  # type: ignore[valid-type]
    shared_deliverables: bool = False
    shared_memory_stores: list[Name] | None = Field(None, max_length=100)
    shared_vaults: list[Name] | None = Field(None, max_length=100)
    shared_knowledge_bases: list[Name] | None = Field(None, max_length=100)
    retention_policy: RetentionPolicyIn | None = None
    workspace: WorkspaceConfigIn | None = None


class ProjectConfigPatch(In):
    """What of the config changes; null puts a field back to its default."""

    max_delegation_depth: whole(0, MAX_TREE_DEPTH) | None = None  # type: ignore[valid-type]
    max_delegation_width: whole(0, 100_000) | None = None  # type: ignore[valid-type]
    max_intervention_depth: whole(0, 1_000) | None = None  # type: ignore[valid-type]
    shared_deliverables: bool | None = None
    shared_memory_stores: list[Name] | None = Field(None, max_length=100)
    shared_vaults: list[Name] | None = Field(None, max_length=100)
    shared_knowledge_bases: list[Name] | None = Field(None, max_length=100)
    retention_policy: RetentionPolicyIn | None = None
    workspace: WorkspaceConfigIn | None = None


class ProjectPatch(In):
    model_config = example(examples.PROJECT_PATCH)

    name: Name | None = None
    config: ProjectConfigPatch | None = None


class TenantIn(In):
    model_config = example(examples.TENANT_IN)

    name: Name
    id: id_of("tnt") | None = None  # type: ignore[valid-type]


class ProjectIn(In):
    model_config = example(examples.PROJECT_IN)

    name: Name
    config: ProjectConfigIn = Field(default_factory=ProjectConfigIn)  # type: ignore[arg-type]
    id: id_of("prj") | None = None  # type: ignore[valid-type]
    tenant_id: str | None = None


class SessionIn(In):
    """`currentActor` must be there: null says that nobody owns the session."""

    model_config = example(examples.SESSION_IN)

    project_id: id_of("prj")  # type: ignore[valid-type]
    current_actor: ActorIn | None
    label: Name | None = None
    id: id_of("ses") | None = None  # type: ignore[valid-type]
    tenant_id: str | None = None


class SessionPut(In):
    """The whole record of a session, as it was read, with what is to change."""

    model_config = example(examples.SESSION_PUT)

    id: str
    project_id: str
    tenant_id: str
    label: Name | None = None
    status: SessionStatus
    current_actor: ActorIn | None
    previous_actors: list[ActorIn] = Field(max_length=10_000)
    workspace_id: id_of("wsp") | None  # type: ignore[valid-type]
    owner_version: whole(0, 2**63 - 1)  # type: ignore[valid-type]
    created_at: str
    updated_at: str


class ChildIn(In):
    """A session that is made together with its edge."""

    current_actor: ActorIn | None
    label: Name | None = None


class SubSessionIn(In):
    """Either `childSessionId` or `child`."""

    model_config = example(examples.SUB_SESSION_IN, oneOf=_ONE_CHILD)

    parent_session_id: id_of("ses")  # type: ignore[valid-type]
    child_session_id: id_of("ses") | None = None  # type: ignore[valid-type]
    child: ChildIn | None = None
    kind: EdgeKind
    spawned_by: ActorIn
    failure_mode: FailureMode = "delegate"
    completion_mode: CompletionMode = "summary_ref"
    id: id_of("sub") | None = None  # type: ignore[valid-type]
    tenant_id: str | None = None


class SubSessionPut(In):
    """The whole record of an edge, as it was read, with its new status."""

    model_config = example(examples.SUB_SESSION_PUT)

    id: str
    parent_session_id: str
    child_session_id: str
    tenant_id: str
    kind: EdgeKind
    status: SubSessionStatus
    spawned_by: ActorIn
    spawned_at: str
    failure_mode: FailureMode
    completion_mode: CompletionMode
    workspace_id: str | None
    prev_artifact_ref: dict[str, Any] | None = None
    broadcast_group_id: str | None = None
    summary_ref: str | None = None
    archive_ref: str | None = None
    archived_at: str | None = None
    updated_at: str


class TenantOut(Out):
    model_config = example(examples.TENANT)

    id: id_of("tnt")  # type: ignore[valid-type]
    name: str
    created_at: Time


class ProjectOut(Out):
    model_config = example(examples.PROJECT)

    id: id_of("prj")  # type: ignore[valid-type]
    tenant_id: id_of("tnt")  # type: ignore[valid-type]
    name: str
    config: ProjectConfig
    created_at: Time
    updated_at: Time


class SessionOut(Out):
    model_config = example(examples.SESSION)

    id: id_of("ses")  # type: ignore[valid-type]
    project_id: id_of("prj")  # type: ignore[valid-type]
    tenant_id: id_of("tnt")  # type: ignore[valid-type]
    label: str | None = left_out()
    status: SessionStatus
    current_actor: Actor | None
    previous_actors: list[Actor]
    workspace_id: str | None
    owner_version: int
    created_at: Time
    updated_at: Time


class SubSessionOut(Out):
    model_config = example(examples.SUB_SESSION)

    id: id_of("sub")  # type: ignore[valid-type]
    parent_session_id: id_of("ses")  # type: ignore[valid-type]
    child_session_id: id_of("ses")  # type: ignore[valid-type]
    tenant_id: id_of("tnt")  # type: ignore[valid-type]
    kind: EdgeKind
    status: SubSessionStatus
    spawned_by: Actor
    spawned_at: Time
    failure_mode: FailureMode
    completion_mode: CompletionMode
    workspace_id: str | None
    prev_artifact_ref: dict[str, Any] | None = left_out()
    broadcast_group_id: str | None = left_out()
    summary_ref: str | None = left_out()
    archive_ref: str | None = left_out()
    archived_at: Time | None = left_out()
    updated_at: Time


class LineageOut(Out):
    parent_session_id: id_of("ses") | None  # type: ignore[valid-type]
    root_session_id: id_of("ses")  # type: ignore[valid-type]
    depth: int


class TreeItemOut(Out):
    """One session of a tree, with the edge it hangs on (null on a root)."""

    model_config = example(examples.TREE_ITEM)

    lineage: LineageOut
    session: SessionOut
    sub_session: SubSessionOut | None


class DrillOut(Out):
    """A session with the edges below it and the ids of its ancestors, root first, itself last."""

    model_config = example(examples.DRILL)

    session: SessionOut
    children: list[SubSessionOut]
    children_cursor: str | None = left_out()
    ancestry: list[id_of("ses")]  # type: ignore[valid-type]


class ProjectPath(TenantPath):
    project_id: path_id("prj")  # type: ignore[valid-type]


class SessionPath(TenantPath):
    session_id: path_id("ses")  # type: ignore[valid-type]


class SubSessionPath(TenantPath):
    sub_session_id: path_id("sub")  # type: ignore[valid-type]


class SessionFilter(Paging):
    """Which sessions; everything absent means all."""

    project: id_of("prj") | None = left_out()  # type: ignore[valid-type]
    status: SessionStatus | None = left_out()
    actor: str | None = left_out(
        shape={"pattern": "^(usr|agt|sys)_[^\\u0000]*$"},
        max_length=200,
        description="Id of the current owner: usr_…, agt_… or sys_…",
    )
    root: id_of("ses") | None = left_out(description="A root session: it and all below it")  # type: ignore[valid-type]
    q: str | None = left_out(max_length=200, description="Words of label or first user line, or the start of an id")


class TreeQuery(Paging):
    depth: int | None = left_out(ge=0, le=MAX_TREE_DEPTH, description="How many levels below the session")


def tenant_record(tenant: Tenant) -> dict[str, Any]:
    """The tenant on the wire (domain.md §3)."""
    return {"id": tenant.public_id, "name": tenant.name, "createdAt": to_wire(tenant.created_at)}


def project_record(project: Project, tenant_id: str) -> dict[str, Any]:
    """The project on the wire (domain.md §3)."""
    return {
        "id": project.public_id,
        "tenantId": tenant_id,
        "name": project.name,
        "config": project.config,
        "createdAt": to_wire(project.created_at),
        "updatedAt": to_wire(project.updated_at),
    }


def session_record(session: Session, tenant_id: str) -> dict[str, Any]:
    """The session on the wire (domain.md §3); its project is joined."""
    record: dict[str, Any] = {
        "id": session.public_id,
        "projectId": session.project.public_id,
        "tenantId": tenant_id,
        "status": session.status,
        "currentActor": session.current_actor,
        "previousActors": session.previous_actors,
        "workspaceId": session.workspace_ref,
        "ownerVersion": session.owner_version,
        "createdAt": to_wire(session.created_at),
        "updatedAt": to_wire(session.updated_at),
    }
    if session.label is not None:
        record["label"] = session.label
    return record


def sub_session_record(edge: SubSession, tenant_id: str) -> dict[str, Any]:
    """The edge on the wire (domain.md §3); both ends are joined. What is not set is left out."""
    record = {
        "id": edge.public_id,
        "parentSessionId": edge.parent.public_id,
        "childSessionId": edge.child.public_id,
        "tenantId": tenant_id,
        "kind": edge.kind,
        "status": edge.status,
        "spawnedBy": edge.spawned_by,
        "spawnedAt": to_wire(edge.spawned_at),
        "failureMode": edge.failure_mode,
        "completionMode": edge.completion_mode,
        "workspaceId": edge.workspace_ref,
        "updatedAt": to_wire(edge.updated_at),
    }
    optional = {
        "prevArtifactRef": edge.prev_artifact_ref,
        "broadcastGroupId": edge.broadcast_group_id,
        "summaryRef": edge.summary_ref,
        "archiveRef": edge.archive_ref,
        "archivedAt": to_wire(edge.archived_at) if edge.archived_at else None,
    }
    return record | {name: value for name, value in optional.items() if value is not None}


def tree_record(session: Session, tenant_id: str) -> dict[str, Any]:
    """One line of a tree; root, project and parent edge with both its ends are joined."""
    edge: SubSession | None = getattr(session, "parent_edge", None)
    return {
        "lineage": {
            "parentSessionId": edge.parent.public_id if edge else None,
            "rootSessionId": session.root.public_id,
            "depth": session.depth,
        },
        "session": session_record(session, tenant_id),
        "subSession": sub_session_record(edge, tenant_id) if edge else None,
    }
