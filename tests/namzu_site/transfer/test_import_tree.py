"""An intact tree comes in whole, once, and grows with its source."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from namzu_site.transfer.report import Counts
from sessions_app.access.models import AuditEntry
from sessions_app.events.models import Event, EventLog
from sessions_app.hierarchy.models import Session
from stores_app.disk import canonical_line
from stores_app.session.models import Message
from tests.namzu_site.transfer.generated_tree import (
    PROJECT,
    edge_record,
    message_line,
    project_record,
    session_id,
    session_record,
    write_edge,
    write_json,
    write_tree,
)
from tests.namzu_site.transfer.kept import kept_edges, kept_sessions, take, written_counts

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(unpack_fixture: Callable[[str], Path]) -> Path:
    return unpack_fixture("v020-small")


@pytest.fixture
def grown(small: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return shutil.copytree(small / ".namzu", tmp_path / "root")


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "root", sessions=3, messages=2)


def folder_of(root: Path, number: int) -> Path:
    return root / "projects" / PROJECT / "sessions" / session_id(number)


def reasons(folder: Path) -> list[tuple[str, str]]:
    return [(finding["kind"], finding["file"].rpartition("/")[2]) for finding in take(folder).reported]


def test_everything_of_an_intact_tree_comes_in(small: Path) -> None:
    report = take(small)
    assert {name: counts.imported for name, counts in report.counts().items()} == {
        "tenants": 2, "projects": 3, "sessions": 35, "messages": 85, "subSessions": 23,
    }  # fmt: skip
    assert report.is_complete
    assert report.not_yet["runs"] == 25
    assert report.not_yet["checkpoints"] == 24
    assert report.not_yet["tasks"] == 25
    assert report.not_yet["archiveBundles"] == 7


def test_the_edges_are_those_of_the_records(small: Path, fixtures_dir: Path) -> None:
    take(small)
    expected = json.loads((fixtures_dir / "v020-small.expected.json").read_text())["subSessions"]
    edges = kept_edges()
    assert edges.keys() == expected.keys()
    for public_id, record in expected.items():
        edge = edges[public_id]
        assert edge["ends"] == (record["parentSessionId"], record["childSessionId"])
        assert (edge["kind"], edge["status"]) == (record["kind"], record["status"])
        assert edge["archive_ref"] == record.get("archiveRef")
        assert edge["summary_ref"] == record.get("summaryRef")
        assert edge["broadcast_group_id"] == record.get("broadcastGroupId")
        assert edge["extra"] == {}


def test_every_line_can_be_written_as_it_came(small: Path) -> None:
    take(small)
    files = list(small.glob(".namzu/projects/*/sessions/*/messages.jsonl"))
    assert len(files) == 20
    for file in files:
        session = Session.objects.select_related("tenant").get(public_id=file.parent.name)
        lines = [
            bytes(row.envelope) if row.envelope else canonical_line(
                id_=row.public_id, session_id=session.public_id, tenant_id=session.tenant.public_id,
                raw=bytes(row.raw), at=row.at,
            )
            for row in Message.objects.of_session(session.pk)
        ]  # fmt: skip
        assert b"".join(line + b"\n" for line in lines) == file.read_bytes()
    assert not Message.objects.exclude(envelope=None).exists()


def test_each_session_and_edge_is_audited_and_told_of(small: Path) -> None:
    take(small)
    actions = list(AuditEntry.objects.values_list("action", flat=True))
    kinds = list(Event.objects.values_list("kind", flat=True))
    assert actions.count("session.imported") == kinds.count("session.created") == 35
    assert actions.count("sub_session.created") == kinds.count("subsession_spawned") == 23
    assert set(AuditEntry.objects.values_list("principal", flat=True)) == {"command:import_state"}
    for log in EventLog.objects.all():
        assert sorted(log.events.values_list("seq", flat=True)) == list(range(1, log.last_seq + 1))


def test_the_second_time_nothing_changes(small: Path) -> None:
    take(small)
    before = kept_sessions(), kept_edges(), written_counts()
    report = take(small)
    assert (kept_sessions(), kept_edges(), written_counts()) == before
    assert report.is_complete
    assert {
        name: counts for name, counts in report.counts().items() if counts != Counts(unchanged=counts.unchanged)
    } == {}
    assert (report.sessions.unchanged, report.messages.unchanged, report.sub_sessions.unchanged) == (35, 85, 23)


def test_a_tree_that_has_grown_adds_what_is_new(generated: Path) -> None:
    take(generated)
    with (folder_of(generated, 1) / "messages.jsonl").open("a") as file:
        file.write(message_line(1, 2, "The third"))
    write_json(folder_of(generated, 3) / "session.json", session_record(3))
    write_edge(generated / "projects" / PROJECT, 1, 3)
    report = take(generated)
    assert report.is_complete
    assert (report.sessions.imported, report.sessions.added, report.sessions.unchanged) == (1, 1, 2)
    assert (report.messages.imported, report.messages.added, report.messages.unchanged) == (0, 1, 6)
    assert (report.sub_sessions.imported, report.sub_sessions.unchanged) == (1, 2)
    assert [message[:2] for message in kept_sessions()[session_id(1)]["messages"]][-1] == (3, "msg_generated000002")
    assert kept_edges()["sub_generated000003"]["place"][:2] == (session_id(0), 2)


def test_what_has_grown_by_steps_equals_what_came_at_once(generated: Path, tmp_path: Path) -> None:
    whole = write_tree(tmp_path / "whole", sessions=3, messages=2500, text="Hi")
    for number in range(3):
        lines = (folder_of(whole, number) / "messages.jsonl").read_text().splitlines(keepends=True)
        (folder_of(generated, number) / "messages.jsonl").write_text("".join(lines[: 1000 * number]))
    take(generated)
    assert [len(kept_sessions()[session_id(number)]["messages"]) for number in range(3)] == [0, 1000, 2000]
    report = take(whole)
    assert report.messages.added == 7500 - 3000
    session = Session.objects.get(public_id=session_id(1))
    assert (session.last_seq, session.first_user_line) == (2500, "Hi")
    assert list(Message.objects.of_session(session.pk).values_list("seq", flat=True)) == list(range(1, 2501))


def test_a_message_that_is_another_one_now_is_reported_and_nothing_is_overwritten(generated: Path) -> None:
    take(generated)
    before = kept_sessions()
    (folder_of(generated, 1) / "messages.jsonl").write_text(
        message_line(1, 7) + message_line(1, 1) + message_line(1, 2)
    )
    assert reasons(generated) == [("diverged", "messages.jsonl")]
    assert kept_sessions() == before


def test_a_record_that_differs_is_reported_and_the_first_one_stays(generated: Path) -> None:
    take(generated)
    before = kept_sessions()
    write_json(folder_of(generated, 1) / "session.json", session_record(1, status="failed", ownerVersion=4))
    report = take(generated)
    assert [finding["reason"] for finding in report.reported] == [
        "is known with another status, owner_version; it is left as it is here"
    ]
    assert (report.sessions.differs, report.sessions.unchanged) == (1, 2)
    assert kept_sessions() == before


def test_what_is_not_known_is_kept_beside_the_record(generated: Path) -> None:
    write_json(folder_of(generated, 0) / "session.json", session_record(0, _legacy=True, note={"a": [1, None]}))
    take(generated)
    assert kept_sessions()[session_id(0)]["extra"] == {"_legacy": True, "note": {"a": [1, None]}}
    assert take(generated).is_complete


def test_an_archived_edge_keeps_its_status_and_its_childs_messages(generated: Path) -> None:
    changes = {"status": "archived", "archiveRef": "arc_1", "archivedAt": "2026-04-19T11:00:00.000Z", "custom": 1}
    write_edge(generated / "projects" / PROJECT, 0, 1, **changes)
    take(generated)
    edge = kept_edges()["sub_generated000001"]
    assert (edge["status"], edge["archive_ref"], edge["extra"]) == ("archived", "arc_1", {"custom": 1})
    assert len(kept_sessions()[session_id(1)]["messages"]) == 2
    assert take(generated).is_complete


def test_of_two_parents_the_older_edge_stays(generated: Path) -> None:
    project = generated / "projects" / PROJECT
    write_edge(project, 0, 2, id="sub_a", spawnedAt="2026-04-18T12:00:00.000Z")
    assert reasons(generated) == [("lineage", "subsession.json")]
    assert "sub_a" not in kept_edges()


def test_the_edge_that_closes_a_cycle_is_left_out(generated: Path) -> None:
    write_edge(generated / "projects" / PROJECT, 1, 0, id="sub_a", spawnedAt="2026-04-18T12:00:00.000Z")
    assert reasons(generated) == [("lineage", "subsession.json")]
    assert kept_edges().keys() == {"sub_generated000001", "sub_generated000002"}


@pytest.mark.parametrize(
    "changes", [{"childSessionId": session_id(0)}, {"childSessionId": "ses_gone"}, {"tenantId": "tnt_other"}]
)
def test_an_edge_that_cannot_be_is_reported_and_the_rest_comes_in(generated: Path, changes: dict[str, Any]) -> None:
    record = edge_record(0, 2, **{"id": "sub_a", **changes})
    file = folder_of(generated, 0) / "subsessions" / "sub_a" / "subsession.json"
    write_json(file, record)
    report = take(generated)
    assert len(report.reported) == 1
    assert report.sub_sessions.imported == 2


def test_an_id_that_occurs_twice_in_a_tenant_is_kept_once(generated: Path) -> None:
    other = generated / "projects" / "prj_other"
    write_json(other / "project.json", {**project_record(), "id": "prj_other"})
    write_json(other / "sessions" / session_id(0) / "session.json", session_record(0, projectId="prj_other"))
    for _ in range(2):
        assert reasons(generated) == [("duplicate", "session.json")]
    assert kept_sessions()[session_id(0)]["project"] == PROJECT


def test_the_same_message_id_twice_is_kept_once_and_growth_goes_on(generated: Path) -> None:
    file = folder_of(generated, 1) / "messages.jsonl"
    file.write_text(message_line(1, 0) + message_line(1, 1) + message_line(1, 0, "other") + message_line(1, 2))
    assert reasons(generated) == [("duplicate", "messages.jsonl")]
    assert [message[1] for message in kept_sessions()[session_id(1)]["messages"]] == [
        f"msg_generated{number:06}" for number in range(3)
    ]
    with file.open("a") as appended:
        appended.write(message_line(1, 3))
    assert reasons(generated) == [("duplicate", "messages.jsonl")]
    assert Session.objects.get(public_id=session_id(1)).last_seq == 4


def test_a_message_of_a_higher_version_refuses_its_session(generated: Path) -> None:
    with (folder_of(generated, 2) / "messages.jsonl").open("a") as file:
        file.write(message_line(2, 2).replace("{", '{"schemaVersion":99,', 1))
    report = take(generated)
    assert [finding["kind"] for finding in report.reported] == ["newer", "lineage"]
    assert kept_sessions().keys() == {session_id(0), session_id(1)}


def test_temporary_files_are_ignored_and_unknown_ones_are_named(generated: Path) -> None:
    (folder_of(generated, 0) / "session.json.tmp").write_text("{")
    (folder_of(generated, 0) / "notes.txt").write_text("?")
    (generated / "cache").mkdir()
    report = take(generated)
    assert report.ignored == 1
    assert [(finding["kind"], finding["file"]) for finding in report.reported] == [
        ("unknown", "cache"),
        ("unknown", f"projects/{PROJECT}/sessions/{session_id(0)}/notes.txt"),
    ]


def test_a_sealed_session_is_left_alone(generated: Path) -> None:
    take(generated)
    Session.objects.filter(public_id=session_id(1)).update(sealed_at="2026-04-20T00:00:00Z")
    with (folder_of(generated, 1) / "messages.jsonl").open("a") as file:
        file.write(message_line(1, 2))
    report = take(generated)
    assert (report.sessions.unchanged, report.messages.added) == (3, 0)


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_whole_last_line_is_taken_with_and_without_its_end(generated: Path, end: str) -> None:
    (folder_of(generated, 1) / "messages.jsonl").write_text(message_line(1, 0).rstrip("\n") + end)
    assert take(generated).is_complete
    assert len(kept_sessions()[session_id(1)]["messages"]) == 1
