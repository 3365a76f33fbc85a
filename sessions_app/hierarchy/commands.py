"""What comes in: projects, sessions and edges as they are to be made or changed."""

from typing import Annotated, Any, Literal

from ninja import Field
from pydantic import AfterValidator, StringConstraints

from sessions_app.hierarchy import examples
from sessions_app.hierarchy.rules import MAX_TREE_DEPTH
from sessions_app.hierarchy.shapes import (
    ActorIn,
    CompletionMode,
    EdgeKind,
    FailureMode,
    SessionStatus,
    SubSessionStatus,
)
from sessions_app.wire.schemas import VISIBLE, In, Name, example, id_of, printable, whole

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
