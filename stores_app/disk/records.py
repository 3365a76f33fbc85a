"""Typed reading of the records on disk: what cannot be kept is named with file, place and reason (domain.md §14)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from sessions_app.hierarchy.rules import (
    COMPLETION_MODES,
    EDGE_KINDS,
    FAILURE_MODES,
    SESSION_STATUSES,
    SUB_SESSION_STATUSES,
)
from sessions_app.hierarchy.schemas import recorded_settings
from sessions_app.wire.jsonb import given_back
from stores_app.disk.errors import DamagedRecord
from stores_app.disk.places import Places

_LARGEST = 2**63 - 1


class _Project(msgspec.Struct, rename="camel"):
    id: str
    tenant_id: str
    name: str
    created_at: str
    updated_at: str
    config: dict[str, Any] = msgspec.field(default_factory=dict)


class _Session(msgspec.Struct, rename="camel"):
    id: str
    project_id: str
    tenant_id: str
    status: str
    current_actor: dict[str, Any] | None
    owner_version: int
    created_at: str
    updated_at: str
    previous_actors: list[dict[str, Any]] = msgspec.field(default_factory=list)
    workspace_id: str | None = None


class _SubSession(msgspec.Struct, rename="camel"):
    id: str
    parent_session_id: str
    child_session_id: str
    tenant_id: str
    kind: str
    status: str
    spawned_by: dict[str, Any]
    spawned_at: str
    updated_at: str
    failure_mode: str = "delegate"
    completion_mode: str = "summary_ref"
    workspace_id: str | None = None
    prev_artifact_ref: dict[str, Any] | None = None
    broadcast_group_id: str | None = None
    summary_ref: str | None = None
    archive_ref: str | None = None
    archived_at: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """`project.json`; `extra` holds the fields that are not known here.

    Settings that are out of bounds are left out of `config`, `damages` has one entry for each, and `extra` holds the
    config as it was.
    """

    id: str
    tenant_id: str
    name: str
    config: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    extra: dict[str, Any]
    damages: list[DamagedRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """`session.json`; `extra` holds the fields that are not known here."""

    id: str
    project_id: str
    tenant_id: str
    status: str
    current_actor: dict[str, Any] | None
    previous_actors: list[dict[str, Any]]
    workspace_id: str | None
    owner_version: int
    created_at: datetime
    updated_at: datetime
    extra: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SubSessionRecord:
    """`subsession.json`; `extra` holds the fields that are not known here."""

    id: str
    parent_session_id: str
    child_session_id: str
    tenant_id: str
    kind: str
    status: str
    spawned_by: dict[str, Any]
    spawned_at: datetime
    failure_mode: str
    completion_mode: str
    workspace_id: str | None
    prev_artifact_ref: dict[str, Any] | None
    broadcast_group_id: str | None
    summary_ref: str | None
    archive_ref: str | None
    archived_at: datetime | None
    updated_at: datetime
    extra: dict[str, Any]


def read_project(data: bytes, file: str) -> ProjectRecord:
    """The record; raises DamagedRecord or NewerRecord."""
    places = Places(file)
    record, extra = places.shaped(data, _Project)
    config, wrong = recorded_settings(record.config)
    return ProjectRecord(
        id=places.id("id", "prj", record.id),
        tenant_id=places.id("tenantId", "tnt", record.tenant_id),
        name=record.name,
        config=given_back(config),
        created_at=places.time("createdAt", record.created_at),
        updated_at=places.time("updatedAt", record.updated_at),
        extra={**extra, "config": record.config} if wrong else extra,
        damages=[places.damaged(f"config.{name}", f"{why}; the default is used") for name, why in wrong.items()],
    )


def read_session(data: bytes, file: str) -> SessionRecord:
    """The record; raises DamagedRecord or NewerRecord."""
    places = Places(file)
    record, extra = places.shaped(data, _Session)
    tenant_id, owner = places.id("tenantId", "tnt", record.tenant_id), record.current_actor
    if not 0 <= record.owner_version <= _LARGEST:
        raise places.damaged("ownerVersion", f"expected a whole number from 0 to {_LARGEST}")
    return SessionRecord(
        id=places.id("id", "ses", record.id),
        project_id=places.id("projectId", "prj", record.project_id),
        tenant_id=tenant_id,
        status=places.one_of("status", SESSION_STATUSES, record.status),
        current_actor=None if owner is None else places.actor("currentActor", tenant_id, owner),
        previous_actors=[
            places.actor(f"previousActors[{index}]", tenant_id, actor)
            for index, actor in enumerate(record.previous_actors)
        ],
        workspace_id=places.ref("workspaceId", "wsp", record.workspace_id),
        owner_version=record.owner_version,
        created_at=places.time("createdAt", record.created_at),
        updated_at=places.time("updatedAt", record.updated_at),
        extra=extra,
    )


def read_sub_session(data: bytes, file: str) -> SubSessionRecord:
    """The record; raises DamagedRecord or NewerRecord."""
    places = Places(file)
    record, extra = places.shaped(data, _SubSession)
    tenant_id, archived_at = places.id("tenantId", "tnt", record.tenant_id), record.archived_at
    group = record.broadcast_group_id
    if group is not None and not 0 < len(group) <= 64:
        raise places.damaged("broadcastGroupId", "expected 1 to 64 characters")
    return SubSessionRecord(
        id=places.id("id", "sub", record.id),
        parent_session_id=places.id("parentSessionId", "ses", record.parent_session_id),
        child_session_id=places.id("childSessionId", "ses", record.child_session_id),
        tenant_id=tenant_id,
        kind=places.one_of("kind", EDGE_KINDS, record.kind),
        status=places.one_of("status", SUB_SESSION_STATUSES, record.status),
        spawned_by=places.actor("spawnedBy", tenant_id, record.spawned_by),
        spawned_at=places.time("spawnedAt", record.spawned_at),
        failure_mode=places.one_of("failureMode", FAILURE_MODES, record.failure_mode),
        completion_mode=places.one_of("completionMode", COMPLETION_MODES, record.completion_mode),
        workspace_id=places.ref("workspaceId", "wsp", record.workspace_id),
        prev_artifact_ref=record.prev_artifact_ref,
        broadcast_group_id=group,
        summary_ref=places.ref("summaryRef", "sum", record.summary_ref),
        archive_ref=places.ref("archiveRef", "arc", record.archive_ref),
        archived_at=None if archived_at is None else places.time("archivedAt", archived_at),
        updated_at=places.time("updatedAt", record.updated_at),
        extra=extra,
    )
