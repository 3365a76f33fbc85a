"""Parts of records: words that are fixed, and what is kept as it came, actors and the config of a project."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, GetJsonSchemaHandler, RootModel

from sessions_app.hierarchy.rules import MAX_TREE_DEPTH
from sessions_app.wire.schemas import Shape, id_of, left_out

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
_REF = "^{}_[^\\u0000-\\u001f\\u007f-\\u009f]+$"


class _ActorShape(Shape):
    tenant_id: id_of("tnt") = Field(description="The tenant of the path")  # type: ignore[valid-type]
    parent_actor: "Actor | None" = left_out(description="Who started it, and so on back to a person")


class UserActor(_ActorShape):
    kind: Literal["user"]
    user_id: str = Field(pattern=_REF.format("usr"), max_length=200)


class AgentActor(_ActorShape):
    kind: Literal["agent"]
    agent_id: str = Field(pattern=_REF.format("agt"), max_length=200)


class SystemActor(_ActorShape):
    kind: Literal["system"]
    role: str = Field(pattern=_REF.format("sys"), max_length=200)


class Actor(RootModel[Annotated[UserActor | AgentActor | SystemActor, Field(discriminator="kind")]]):
    """Who owns or does something; two are the same when kind and id agree."""


for _model in (UserActor, AgentActor, SystemActor, Actor):
    _model.model_rebuild()


class _Described:
    """Describes a value that is kept as it came as what it has to be."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.model = model

    def __get_pydantic_json_schema__(self, _: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(self.model.__pydantic_core_schema__)


ActorIn = Annotated[dict[str, Any], _Described(Actor)]


class RetentionPolicy(Shape):
    """What becomes of quiet sub-sessions; everything absent means never."""

    idle_sub_session_ttl: int | None = left_out(alias="idleSubSessionTTL", ge=0)
    max_sub_sessions_per_project: int | None = left_out(ge=0)
    archive_backend: str | None = left_out()


class WorkspaceConfig(Shape):
    """Where the project's sessions get their workspaces."""

    backend: Literal["git-worktree", "directory"]
    repo_root: str | None = left_out()


class ProjectConfig(Shape):
    """Limits and references of a project."""

    max_delegation_depth: int = Field(ge=0, le=MAX_TREE_DEPTH)
    max_delegation_width: int = Field(ge=0)
    max_intervention_depth: int = Field(ge=0)
    shared_deliverables: bool
    shared_memory_stores: list[str] | None = left_out()
    shared_vaults: list[str] | None = left_out()
    shared_knowledge_bases: list[str] | None = left_out()
    retention_policy: RetentionPolicy | None = left_out()
    workspace: WorkspaceConfig | None = left_out()
