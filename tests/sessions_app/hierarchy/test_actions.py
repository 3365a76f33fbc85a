"""Writing the hierarchy on the real database."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from sessions_app.access.models import AuditEntry
from sessions_app.events.models import Event
from sessions_app.hierarchy import actions
from sessions_app.hierarchy.errors import AlreadyLinked, AncestryCycle, IdTaken, TreeTooDeep
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.hierarchy.rules import MAX_TREE_DEPTH
from sessions_app.wire.times import now_ms
from tests.api_client import BY, new_tenant

pytestmark = pytest.mark.django_db


def a_project(tenant: Tenant | None = None) -> Project:
    return actions.create_project(tenant=tenant or new_tenant(), name="Checkout", by=BY, now=now_ms())


def a_root(project: Project, **fields: Any) -> Session:
    return actions.create_session(project=project, current_actor=None, by=BY, now=now_ms(), **fields)


def a_child(parent: Session) -> Session:
    spawned_by = {"kind": "user", "userId": "usr_ada", "tenantId": parent.tenant.public_id}
    edge = actions.spawn_session(
        parent=parent, current_actor=spawned_by, kind="agent_spawn", spawned_by=spawned_by, by=BY, now=now_ms()
    )
    return Session.objects.get(pk=edge.child_id)


def link(parent: Session, child: Session, public_id: str = "sub_link", **fields: Any) -> SubSession:
    edge = SubSession(
        tenant_id=parent.tenant_id, public_id=public_id, parent_id=parent.pk, child_id=child.pk, kind="agent_spawn",
        spawned_by={}, spawned_at=now_ms(), updated_at=now_ms(), **fields,
    )  # fmt: skip
    return actions.link_session(edge=edge, by=BY, now=now_ms())


def test_a_project_gets_the_default_limits() -> None:
    assert a_project().config == {
        "maxDelegationDepth": 4, "maxDelegationWidth": 8, "maxInterventionDepth": 10, "sharedDeliverables": False,
    }  # fmt: skip


def test_every_write_leaves_an_audit_entry_and_an_event() -> None:
    project = a_project()
    root = a_root(project)
    a_child(root)
    audited = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert audited == ["tenant.created", "project.created", "session.created", "session.created", "sub_session.created"]
    assert list(Event.objects.filter(log__root=None).values_list("seq", "kind")) == [(1, "project.created")]
    events = Event.objects.filter(log__root=root).order_by("seq").values_list("seq", "kind")
    assert list(events) == [(1, "session.created"), (2, "session.created"), (3, "subsession_spawned")]


def test_an_id_is_given_once_per_tenant_and_free_in_another() -> None:
    project = a_project()
    a_root(project, public_id="ses_brought")
    with pytest.raises(IdTaken):
        a_root(project, public_id="ses_brought")
    assert a_root(a_project(), public_id="ses_brought").public_id == "ses_brought"
    assert not Session.objects.for_tenant(project.tenant_id).exclude(public_id="ses_brought").exists()


def test_linking_moves_the_whole_tree_below_its_parent() -> None:
    project = a_project()
    parent, child = a_root(project), a_root(project)
    grandchild = a_child(child)
    link(parent, child)
    chain = Session.objects.with_lineage_of(grandchild)
    assert [session.pk for session in chain] == [parent.pk, child.pk, grandchild.pk]
    walk = Session.objects.below(parent).in_walk_order()
    assert [(s.pk, s.depth) for s in walk] == [(parent.pk, 0), (child.pk, 1), (grandchild.pk, 2)]
    assert list(Session.objects.below(parent, levels=1).in_walk_order()) == [parent, child]


def test_a_session_has_one_parent() -> None:
    project = a_project()
    first, second, child = a_root(project), a_root(project), a_root(project)
    link(first, child, "sub_1")
    with pytest.raises(AlreadyLinked):
        link(second, child, "sub_2")


def test_edges_never_form_a_cycle() -> None:
    project = a_project()
    root = a_root(project)
    leaf = a_child(a_child(root))
    with pytest.raises(AncestryCycle):
        link(leaf, root)
    with pytest.raises(AncestryCycle):
        link(root, root)
    assert SubSession.objects.count() == 2


def test_a_tree_does_not_grow_past_the_deepest_level() -> None:
    project = a_project()
    deepest = a_root(project)
    for _ in range(MAX_TREE_DEPTH):
        deepest = a_child(deepest)
    with pytest.raises(TreeTooDeep):
        a_child(deepest)
    with pytest.raises(TreeTooDeep):
        link(deepest, a_root(project))
    assert Session.objects.with_lineage_of(deepest).count() == MAX_TREE_DEPTH + 1


def test_what_lies_behind_an_archived_edge_is_sealed() -> None:
    project = a_project()
    parent, child = a_root(project), a_root(project)
    archived_at = now_ms() - timedelta(days=1)
    link(parent, child, status="archived", archive_ref="arc_1", archived_at=archived_at)
    child.refresh_from_db()
    assert child.sealed_at == archived_at


def test_the_database_refuses_a_child_of_another_tenant() -> None:
    ours, theirs = a_root(a_project()), a_root(a_project())
    edge = SubSession(
        tenant_id=ours.tenant_id, public_id="sub_x", parent=ours, child=theirs, kind="agent_spawn", spawned_by={},
        spawned_at=now_ms(), updated_at=now_ms(),
    )  # fmt: skip
    with pytest.raises(IntegrityError, match="sub_session_child_same_tenant"), transaction.atomic():
        edge.save()
    with pytest.raises(IntegrityError, match="session_project_same_tenant"), transaction.atomic():
        Session.objects.filter(pk=ours.pk).update(project=theirs.project)


@pytest.mark.parametrize(
    ("field", "value", "constraint"),
    [("status", "zombie", "session_status"), ("path", "x", "session_lineage"), ("depth", 1, "session_lineage")],
)
def test_the_database_refuses_what_no_session_can_be(field: str, value: object, constraint: str) -> None:
    root = a_root(a_project())
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Session.objects.filter(pk=root.pk).update(**{field: value})


@pytest.mark.django_db(transaction=True)
def test_of_two_opposite_links_one_wins() -> None:
    project = a_project()
    for round_ in range(5):
        one, other = a_root(project), a_root(project)
        outcomes: list[str] = []
        start = threading.Barrier(2)

        def race(parent: Session, child: Session, name: str, outcomes: list[str], start: threading.Barrier) -> None:
            start.wait()
            try:
                link(parent, child, name)
                outcomes.append("linked")
            except AncestryCycle:
                outcomes.append("refused")
            finally:
                connection.close()

        racers = [
            threading.Thread(target=race, args=(one, other, f"sub_{round_}a", outcomes, start)),
            threading.Thread(target=race, args=(other, one, f"sub_{round_}b", outcomes, start)),
        ]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert sorted(outcomes) == ["linked", "refused"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("checkout", True), ("CHECK", True), ("fix checkout", True), ("ses_abc", True), ("ses_a", True),
     ("nothing", False), ("fix nothing", False), ("it's \\ :* & | !(", False), ("\0", True), ("   ", True)],
)  # fmt: skip
def test_sessions_are_found_by_words_and_by_the_start_of_their_id(text: str, found: bool) -> None:
    a_root(a_project(), label="Fix the checkout", public_id="ses_abcdef")
    assert Session.objects.all().matching(text).exists() is found
