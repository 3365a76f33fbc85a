"""Projects, sessions and edges as they travel: what goes out, what is asked for, and the one maker of each record."""

from typing import Any

from pydantic import ValidationError

from sessions_app.hierarchy import examples as examples
from sessions_app.hierarchy.commands import ProjectConfigIn
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.hierarchy.rules import MAX_TREE_DEPTH
from sessions_app.hierarchy.shapes import (
    Actor,
    CompletionMode,
    EdgeKind,
    FailureMode,
    ProjectConfig,
    SessionStatus,
    SubSessionStatus,
)
from sessions_app.wire.schemas import Out, Paging, TenantPath, Time, example, id_of, left_out, path_id
from sessions_app.wire.times import to_wire


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


def recorded_settings(config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Of a recorded config what a project can have here, and what it cannot, with the reason.

    Unknown settings stay as they are. Null is the same as nothing, but where there has to be a value.
    """
    wrong: dict[str, str] = {}
    try:
        ProjectConfigIn.model_validate(config)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False, include_input=False):
            if problem["type"] != "extra_forbidden":
                wrong.setdefault(str(problem["loc"][0]), problem["msg"])
    known = {field.alias for field in ProjectConfigIn.model_fields.values()}
    kept = {name: _without_nulls(value) if name in known else value for name, value in config.items()}
    return {
        name: value for name, value in kept.items() if name not in wrong and (name not in known or value is not None)
    }, wrong


def _without_nulls(value: Any) -> Any:
    return {name: inner for name, inner in value.items() if inner is not None} if isinstance(value, dict) else value


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
