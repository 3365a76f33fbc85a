import json
from collections import Counter
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import Count, F, Max
from django.utils import timezone

from namzu_site.demo.fleet import count_sessions
from namzu_site.demo.shapes import TENANT_ID
from sessions_app.access.models import AuditEntry
from sessions_app.events.models import Event
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.hierarchy.rules import (
    EDGE_KINDS,
    SESSION_STATUSES,
    SUB_SESSION_STATUSES,
    check_actor,
    child_path,
)
from stores_app.session.models import Message

pytestmark = pytest.mark.django_db
TABLES = (Tenant, Project, Session, SubSession, Message, Event, AuditEntry)


def demo() -> str:
    out = StringIO()
    call_command("demo", stdout=out)
    return out.getvalue()


@pytest.fixture
def made() -> str:
    return demo()


def test_it_says_what_it_made_and_where_to_look(made: str) -> None:
    assert made.startswith("The demo fleet is ready:\n      3 projects\n")
    assert f"{count_sessions()} sessions" in made
    assert made.splitlines()[-1].endswith(f"/t/{TENANT_ID}/explorer/")


@pytest.mark.usefixtures("made")
def test_a_second_run_changes_nothing() -> None:
    def state() -> list[int]:
        return [model._base_manager.count() for model in TABLES]

    before = state()
    assert "there already" in demo()
    assert state() == before


@pytest.mark.usefixtures("made")
def test_every_status_kind_and_owner_is_there() -> None:
    assert set(Session.objects.values_list("status", flat=True)) == set(SESSION_STATUSES)
    assert set(SubSession.objects.values_list("status", flat=True)) == set(SUB_SESSION_STATUSES)
    assert set(SubSession.objects.values_list("kind", flat=True)) == set(EDGE_KINDS)
    assert set(Session.objects.values_list("owner_kind", flat=True)) == {"user", "agent", "system", None}
    assert Session.objects.aggregate(deepest=Max("depth"))["deepest"] == 4
    assert Session.objects.exclude(previous_actors=[]).filter(owner_version__gt=0).exists()


@pytest.mark.usefixtures("made")
def test_lineage_agrees_with_the_edges() -> None:
    assert Session.objects.count() == count_sessions() > 55
    edges = list(SubSession.objects.select_related("parent", "child"))
    for edge in edges:
        assert edge.child.path == child_path(edge.parent.path, edge.spawned_at, edge.public_id)
        assert (edge.child.root_id, edge.child.depth) == (edge.parent.root_id, edge.parent.depth + 1)
        assert edge.parent.created_at <= edge.child.created_at == edge.spawned_at
        assert edge.child.project_id == edge.parent.project_id
    assert {edge.child_id for edge in edges} == set(Session.objects.exclude(depth=0).values_list("pk", flat=True))


@pytest.mark.usefixtures("made")
def test_no_session_has_more_children_or_depth_than_its_project_allows() -> None:
    children = Counter(SubSession.objects.values_list("parent_id", flat=True))
    for session in Session.objects.select_related("project"):
        assert children[session.pk] <= session.project.config["maxDelegationWidth"]
        assert session.depth <= session.project.config["maxDelegationDepth"]


@pytest.mark.usefixtures("made")
def test_actors_are_valid() -> None:
    owners = Session.objects.exclude(current_actor=None).values_list("current_actor", "previous_actors")
    for owner, previous in owners:
        for actor in (owner, *previous):
            check_actor(actor, TENANT_ID)
    assert any("parentActor" in (owner or {}).get("parentActor", {}) for owner, _ in owners)


@pytest.mark.usefixtures("made")
def test_messages_are_numbered_from_one_and_lie_in_the_last_ten_days() -> None:
    numbers = Session.objects.annotate(highest=Max("messages__seq"), count=Count("messages"))
    for last, highest, count in numbers.values_list("last_seq", "highest", "count"):
        assert last == (highest or 0) == count
    assert Session.objects.aggregate(most=Max("last_seq"))["most"] > 1200
    now = timezone.now()
    assert not Message.objects.filter(at__gt=now).exists()
    assert not Message.objects.filter(at__lt=now - timedelta(days=11)).exists()
    assert not Message.objects.filter(at__lt=F("session__created_at")).exists()


@pytest.mark.usefixtures("made")
def test_all_kinds_of_content_are_there() -> None:
    messages = [
        json.loads(bytes(raw)) for raw in Message.objects.order_by("session", "seq").values_list("raw", flat=True)
    ]
    contents = [message["content"] for message in messages]
    calls = [call for message in messages for call in message.get("toolCalls", [])]
    answered = {message.get("toolCallId") for message in messages}
    assert {message["role"] for message in messages} == {"system", "user", "assistant", "tool"}
    assert None in contents
    assert "" in contents
    assert any(content and len(content.encode()) > 20_000 for content in contents)
    for piece in ("日本", "العربي", "👩‍👩‍👧‍👦", "```python", "```sql", "|---", "> ", "Traceback"):
        assert any(content and piece in content for content in contents), piece
    assert any(call["id"] not in answered for call in calls)
    assert any(not _is_object(call["function"]["arguments"]) for call in calls)
    assert any(set(message) - {"role", "content", "toolCalls", "toolCallId"} for message in messages)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
