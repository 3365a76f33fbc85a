"""Statuses, their transitions, derivation, actors and lineage: decisions on plain values (domain.md §3 to §5)."""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from sessions_app.hierarchy.errors import DelegationCapacityExceeded, IllegalTransition, TreeTooDeep
from sessions_app.ids import BadId, check_id
from sessions_app.wire.jsonb import can_hold, nesting

SESSION_STATUSES = ("active", "idle", "locked", "awaiting_hitl", "awaiting_merge", "failed", "archived")
SUB_SESSION_STATUSES = (
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
)
EDGE_KINDS = ("agent_spawn", "user_handoff", "intervention")
FAILURE_MODES = ("delegate", "fail_fast")
COMPLETION_MODES = ("summary_ref", "merge_back")
ACTOR_REFS = {"user": "userId", "agent": "agentId", "system": "role"}
_ACTOR_PREFIXES = {"user": "usr", "agent": "agt", "system": "sys"}

PROJECT_DEFAULTS: dict[str, Any] = {
    "maxDelegationDepth": 4,
    "maxDelegationWidth": 8,
    "maxInterventionDepth": 10,
    "sharedDeliverables": False,
}

MAX_TREE_DEPTH = 32  # with ids of 64 characters the longest path still fits an index entry
MAX_ACTOR_NESTING = 32
MAX_ACTOR_LEVELS = 48  # of all arrays and objects: a record that holds the actor must still be one that can come in
MAX_ACTOR_CHARACTERS = 64 * 1024

SESSION_TRANSITIONS: Mapping[str, frozenset[str]] = {
    "idle": frozenset({"active", "locked"}),
    "active": frozenset({"idle", "failed", "awaiting_hitl"}),
    "awaiting_hitl": frozenset({"active", "idle", "failed"}),
    "failed": frozenset({"active", "idle"}),
    "locked": frozenset({"idle", "awaiting_merge"}),
    "awaiting_merge": frozenset({"idle"}),
    "archived": frozenset(),
}

SUB_SESSION_TRANSITIONS: Mapping[str, frozenset[str]] = {
    "pending": frozenset({"active", "idle", "failed", "pending_merge"}),
    "active": frozenset({"idle", "failed", "pending_merge", "awaiting_merge"}),
    "idle": frozenset({"failed", "active", "pending_merge", "archived"}),
    "failed": frozenset({"idle", "active", "archived"}),
    "awaiting_merge": frozenset({"merging"}),
    "pending_merge": frozenset({"merging", "merge_rejected"}),
    "merging": frozenset({"merged", "merge_conflict", "merge_rejected"}),
    "merge_conflict": frozenset({"merging", "merge_rejected"}),
    "merged": frozenset({"archived"}),
    "merge_rejected": frozenset({"archived"}),
    "archived": frozenset({"idle"}),
}

# What a caller may set: the rest of §4 is for derivation, hand-off and summary, the rest of §5 for archive and restore.
SESSION_TRANSITIONS_BY_HAND: Mapping[str, frozenset[str]] = {
    "idle": frozenset({"active"}),
    "active": frozenset({"idle"}),
    "failed": frozenset({"idle"}),
}
SUB_SESSION_TRANSITIONS_BY_HAND: Mapping[str, frozenset[str]] = {
    before: after - {"archived"} for before, after in SUB_SESSION_TRANSITIONS.items() if before != "archived"
}

TERMINAL_SUB_SESSION_STATUSES = frozenset({"idle", "failed", "merged", "merge_rejected", "archived"})
_STICKY = frozenset({"locked", "awaiting_merge", "archived"})
_WORKING = frozenset({"running", "awaiting_subsession"})
_ASKING = frozenset({"awaiting_hitl", "awaiting_hitl_resolution"})


def check_session_transition(before: str, after: str, *, by_hand: bool = False) -> None:
    """Raises IllegalTransition unless §4 allows the change; no change is always allowed."""
    _check_transition(SESSION_TRANSITIONS_BY_HAND if by_hand else SESSION_TRANSITIONS, before, after)


def check_sub_session_transition(before: str, after: str, *, by_hand: bool = False) -> None:
    """Raises IllegalTransition unless §5 allows the change; no change is always allowed."""
    _check_transition(SUB_SESSION_TRANSITIONS_BY_HAND if by_hand else SUB_SESSION_TRANSITIONS, before, after)


def _check_transition(table: Mapping[str, frozenset[str]], before: str, after: str) -> None:
    allowed = table.get(before, frozenset())
    if before != after and after not in allowed:
        raise IllegalTransition(before=before, after=after, allowed=sorted(allowed))


def check_depth(depth: int, limit: int, session_id: str) -> None:
    """Raises DelegationCapacityExceeded where a child at this depth is too deep below its root (§6)."""
    if depth > limit:
        raise DelegationCapacityExceeded(dimension="depth", current=depth, limit=limit, session_id=session_id)


def check_width(width: int, limit: int, session_id: str) -> None:
    """Raises DelegationCapacityExceeded where the session would have too many direct children (§6)."""
    if width > limit:
        raise DelegationCapacityExceeded(dimension="width", current=width, limit=limit, session_id=session_id)


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any], ignored: Collection[str]) -> list[str]:
    """Names of the fields in which two records differ, in order; a field that is absent counts as null."""
    names = [name for name in {**before, **after} if name not in ignored]
    return [name for name in names if before.get(name) != after.get(name)]


def derive_session_status(current: str, run_statuses: Collection[str]) -> str:
    """The session's status after its runs came to stand at `run_statuses` (§4, first match wins)."""
    if current in _STICKY:
        return current
    if _WORKING.intersection(run_statuses):
        return "active"
    if _ASKING.intersection(run_statuses):
        return "awaiting_hitl"
    if run_statuses and all(status == "failed" for status in run_statuses):
        return "failed"
    return "idle"


class BadActor(ValueError):
    """The record is not an actor; the text says where and why."""


def check_actor(actor: Any, tenant_id: str) -> dict[str, Any]:
    """The actor as it is, unknown fields too.

    Raises BadActor where kind, id or tenant do not fit, at any level of the chain (§3), or where it cannot be kept.
    """
    where, level = "actor", actor
    for _ in range(MAX_ACTOR_NESTING):
        _check_actor_level(where, level, tenant_id)
        if "parentActor" not in level:
            _check_actor_size(actor)
            return dict(actor)
        where, level = f"{where}.parentActor", level["parentActor"]
    raise BadActor(f"actor: more than {MAX_ACTOR_NESTING} levels")


def _check_actor_level(where: str, level: Any, tenant_id: str) -> None:
    if not isinstance(level, dict):
        raise BadActor(f"{where}: expected an object")
    kind = level.get("kind")
    if not isinstance(kind, str) or kind not in ACTOR_REFS:
        raise BadActor(f"{where}.kind: expected one of {', '.join(ACTOR_REFS)}")
    _check_actor_ref(f"{where}.{ACTOR_REFS[kind]}", _ACTOR_PREFIXES[kind], level.get(ACTOR_REFS[kind]))
    if level.get("tenantId") != tenant_id:
        raise BadActor(f"{where}.tenantId: expected {tenant_id}")
    if not can_hold({name: value for name, value in level.items() if name != "parentActor"}):
        raise BadActor(f"{where}: holds a NUL or half of a surrogate pair, which a record cannot")


def _check_actor_size(actor: dict[str, Any]) -> None:
    if nesting(actor) > MAX_ACTOR_LEVELS:
        raise BadActor(f"actor: nests deeper than {MAX_ACTOR_LEVELS} levels")
    if len(json.dumps(actor, ensure_ascii=False)) > MAX_ACTOR_CHARACTERS:
        raise BadActor(f"actor: longer than {MAX_ACTOR_CHARACTERS} characters")


def _check_actor_ref(where: str, prefix: str, ref: Any) -> None:
    """Ids of people and agents come from elsewhere: any printable text after the prefix will do."""
    if not isinstance(ref, str) or not ref.startswith(f"{prefix}_") or not 4 < len(ref) <= 200 or not ref.isprintable():
        raise BadActor(f"{where}: expected {prefix}_ and 1 to 196 printable characters")


def actor_key(actor: Mapping[str, Any]) -> tuple[str, str]:
    """Kind and id: two actors are the same when these agree (§3)."""
    return actor["kind"], actor[ACTOR_REFS[actor["kind"]]]


def actor_kind_of(ref: str) -> str | None:
    """The kind of actor whose id this is, None where it cannot be one."""
    if "\0" in ref:
        return None
    return next((kind for kind, prefix in _ACTOR_PREFIXES.items() if ref.startswith(f"{prefix}_")), None)


def child_path(parent_path: str, spawned_at: datetime, sub_session_id: str) -> str:
    """Place of a child in its tree: sorts like a walk of the tree, children by spawnedAt, then id (§3)."""
    spawned_ms = int(spawned_at.astimezone(UTC).timestamp() * 1000 + 0.5)
    # '!' sorts before every character an id can have, so that a shorter id comes before a longer one it begins.
    return f"{parent_path}{spawned_ms:012x}{sub_session_id}!"


def check_tree_depth(depth: int) -> None:
    """Raises TreeTooDeep."""
    if depth > MAX_TREE_DEPTH:
        raise TreeTooDeep(depth=depth, limit=MAX_TREE_DEPTH)


def is_id(prefix: str, value: object) -> bool:
    """Whether the value is an id with this prefix."""
    try:
        return isinstance(value, str) and check_id(prefix, value) == value
    except BadId:
        return False
