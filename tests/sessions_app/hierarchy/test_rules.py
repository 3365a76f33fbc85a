"""Statuses, derivation, actors and places in a tree, without a database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.hierarchy import rules
from sessions_app.hierarchy.errors import IllegalTransition, TreeTooDeep

LEGAL_SESSION_CHANGES = {
    ("idle", "active"), ("failed", "active"), ("awaiting_hitl", "active"),
    ("active", "idle"), ("active", "failed"), ("active", "awaiting_hitl"),
    ("awaiting_hitl", "idle"), ("awaiting_hitl", "failed"), ("failed", "idle"),
    ("idle", "locked"), ("locked", "idle"), ("locked", "awaiting_merge"), ("awaiting_merge", "idle"),
}  # fmt: skip
LEGAL_EDGE_CHANGES = {
    ("pending", "active"),
    ("pending", "idle"), ("active", "idle"), ("failed", "idle"),
    ("pending", "failed"), ("active", "failed"), ("idle", "failed"),
    ("idle", "active"), ("failed", "active"),
    ("pending", "pending_merge"), ("active", "pending_merge"), ("idle", "pending_merge"),
    ("pending_merge", "merging"), ("awaiting_merge", "merging"), ("merge_conflict", "merging"),
    ("merging", "merged"), ("merging", "merge_conflict"),
    ("pending_merge", "merge_rejected"), ("merging", "merge_rejected"), ("merge_conflict", "merge_rejected"),
    ("active", "awaiting_merge"),
    ("idle", "archived"), ("failed", "archived"), ("merged", "archived"), ("merge_rejected", "archived"),
    ("archived", "idle"),
}  # fmt: skip


@pytest.mark.parametrize("before", rules.SESSION_STATUSES)
@pytest.mark.parametrize("after", rules.SESSION_STATUSES)
def test_a_session_changes_status_only_as_the_table_says(before: str, after: str) -> None:
    if before == after or (before, after) in LEGAL_SESSION_CHANGES:
        rules.check_session_transition(before, after)
    else:
        with pytest.raises(IllegalTransition) as refused:
            rules.check_session_transition(before, after)
        allowed = sorted(target for source, target in LEGAL_SESSION_CHANGES if source == before)
        assert refused.value.details == {"from": before, "to": after, "allowed": allowed}


@pytest.mark.parametrize("before", rules.SUB_SESSION_STATUSES)
@pytest.mark.parametrize("after", rules.SUB_SESSION_STATUSES)
def test_an_edge_changes_status_only_as_the_table_says(before: str, after: str) -> None:
    if before == after or (before, after) in LEGAL_EDGE_CHANGES:
        rules.check_sub_session_transition(before, after)
    else:
        with pytest.raises(IllegalTransition):
            rules.check_sub_session_transition(before, after)


def test_tables_know_every_status() -> None:
    assert set(rules.SESSION_TRANSITIONS) == set(rules.SESSION_STATUSES)
    assert set(rules.SUB_SESSION_TRANSITIONS) == set(rules.SUB_SESSION_STATUSES)


@pytest.mark.parametrize(
    ("current", "runs", "derived"),
    [
        ("locked", ["running"], "locked"),
        ("awaiting_merge", ["failed"], "awaiting_merge"),
        ("archived", ["running"], "archived"),
        ("idle", [], "idle"),
        ("failed", [], "idle"),
        ("idle", ["running", "failed"], "active"),
        ("idle", ["awaiting_subsession", "awaiting_hitl"], "active"),
        ("active", ["awaiting_hitl", "succeeded"], "awaiting_hitl"),
        ("active", ["awaiting_hitl_resolution"], "awaiting_hitl"),
        ("active", ["failed", "failed"], "failed"),
        ("active", ["failed", "cancelled"], "idle"),
        ("active", ["failed", "succeeded"], "idle"),
        ("active", ["cancelled"], "idle"),
        ("active", ["queued"], "idle"),
    ],
)
def test_status_follows_the_runs(current: str, runs: list[str], derived: str) -> None:
    assert rules.derive_session_status(current, runs) == derived


USER = {"kind": "user", "userId": "usr_ada", "tenantId": "tnt_a"}


@pytest.mark.parametrize(
    "actor",
    [
        USER,
        {"kind": "user", "userId": "usr_zoë_ünïcode", "tenantId": "tnt_a"},
        {"kind": "system", "role": "sys_scheduler", "tenantId": "tnt_a"},
        {"kind": "agent", "agentId": "agt_coder", "tenantId": "tnt_a", "parentActor": USER},
        {"kind": "agent", "agentId": "agt_coder", "tenantId": "tnt_a", "note": "unknown fields stay"},
        {**USER, "note": {"pair": "\U0001f600", "backslash": "\\u0000", "numbers": [1e23, 10**400, None, True]}},
    ],
)
def test_an_actor_is_taken_as_it_is(actor: dict[str, Any]) -> None:
    assert rules.check_actor(actor, "tnt_a") == actor


# What jsonb cannot hold, as value and as name, at any depth.
IMPOSSIBLE: list[dict[str, Any]] = [
    {"note": "a\0b"},
    {"note": "\ud800"},
    {"a\0b": 1},
    {"\udfff": 1},
    {"note": [{"x": [1, {"y": "\0"}]}]},
    {"note": [{"x": {"\ud83d": 1}}]},
]


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _chain(length: int) -> dict[str, Any]:
    actor: dict[str, Any] = USER
    for number in range(length):
        actor = {"kind": "agent", "agentId": f"agt_{number}", "tenantId": "tnt_a", "parentActor": actor}
    return actor


NO_TEXTS: list[Any] = [[], {}, None]
NO_KINDS: list[Any] = [*NO_TEXTS, {"a": []}, 1, True, "\0"]
NO_REFS: list[Any] = [*NO_TEXTS, 1, "usr_\ud800"]
NO_ACTORS: list[Any] = [*NO_TEXTS, "usr_ada", [USER]]


@pytest.mark.parametrize(
    ("actor", "place"),
    [
        ("usr_ada", "actor:"),
        ({"kind": "robot", "tenantId": "tnt_a"}, "actor.kind"),
        ({"kind": "user", "userId": "ada", "tenantId": "tnt_a"}, "actor.userId"),
        ({"kind": "user", "userId": "usr_", "tenantId": "tnt_a"}, "actor.userId"),
        ({"kind": "user", "userId": "usr_a\0b", "tenantId": "tnt_a"}, "actor.userId"),
        ({"kind": "user", "userId": "usr_" + "x" * 300, "tenantId": "tnt_a"}, "actor.userId"),
        ({"kind": "user", "userId": "usr_ada", "tenantId": "tnt_b"}, "actor.tenantId"),
        ({"kind": "agent", "agentId": "agt_x", "tenantId": "tnt_a", "parentActor": {**USER, "tenantId": "tnt_b"}},
         "actor.parentActor.tenantId"),
        (_chain(40), "actor: more than"),
        *(({**USER, "kind": kind}, "actor.kind") for kind in NO_KINDS),
        ({}, "actor.kind"),
        *(({**USER, "userId": ref}, "actor.userId") for ref in NO_REFS),
        *(({**USER, "tenantId": tenant}, "actor.tenantId") for tenant in NO_TEXTS),
        *(({**USER, "parentActor": parent}, "actor.parentActor") for parent in NO_ACTORS),
        *(({**USER, **extra}, "actor: holds a NUL") for extra in IMPOSSIBLE),
        *(({**USER, "parentActor": {**USER, **extra}}, "actor.parentActor: holds a NUL") for extra in IMPOSSIBLE),
        ({**USER, "note": _nested(48)}, "actor: nests deeper"),
        ({**USER, "note": _nested(100_000)}, "actor: nests deeper"),
        ({**USER, "note": "x" * 70_000}, "actor: longer than"),
        ({**USER, "notes": list(range(20_000))}, "actor: longer than"),
    ],
)  # fmt: skip
def test_a_wrong_actor_is_refused_with_the_place(actor: Any, place: str) -> None:
    with pytest.raises(rules.BadActor, match=place):
        rules.check_actor(actor, "tnt_a")


def test_two_actors_are_the_same_when_kind_and_id_agree() -> None:
    under_somebody = {"kind": "agent", "agentId": "agt_x", "tenantId": "tnt_a", "parentActor": USER}
    alone = {"kind": "agent", "agentId": "agt_x", "tenantId": "tnt_a"}
    assert rules.actor_key(under_somebody) == rules.actor_key(alone) == ("agent", "agt_x")


MOMENTS = st.integers(0, 253402300799999).map(lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms))
IDS = st.from_regex(r"sub_[0-9A-Za-z._-]{1,60}", fullmatch=True)


@given(st.lists(st.tuples(MOMENTS, IDS), min_size=2, max_size=20, unique=True))
def test_paths_sort_as_children_do(children: list[tuple[datetime, str]]) -> None:
    in_order = sorted(children)
    assert sorted(children, key=lambda child: rules.child_path("", *child)) == in_order


@given(st.tuples(MOMENTS, IDS), st.tuples(MOMENTS, IDS), st.tuples(MOMENTS, IDS))
def test_a_subtree_stands_between_its_root_and_the_next_sibling(
    first: tuple[datetime, str], second: tuple[datetime, str], below: tuple[datetime, str]
) -> None:
    if first == second:
        return
    first, second = sorted([first, second])
    parent = rules.child_path("", *first)
    child = rules.child_path(parent, *below)
    assert parent < child < f"{parent}~"
    assert child < rules.child_path("", *second)


def test_a_tree_has_a_deepest_level() -> None:
    rules.check_tree_depth(rules.MAX_TREE_DEPTH)
    with pytest.raises(TreeTooDeep):
        rules.check_tree_depth(rules.MAX_TREE_DEPTH + 1)
    longest = rules.MAX_TREE_DEPTH * len(rules.child_path("", datetime(9999, 1, 1, tzinfo=UTC), "s" * 64))
    assert longest < 2600  # an index entry of PostgreSQL holds 2,704 bytes
