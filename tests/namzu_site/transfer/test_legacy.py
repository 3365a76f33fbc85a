"""What is left of the time before there were projects: one session of the same name in each that was migrated."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions_app.hierarchy.models import Session
from tests.namzu_site.transfer.generated_tree import (
    PROJECT,
    edge_record,
    message_line,
    project_record,
    session_id,
    session_record,
    write_json,
    write_tree,
)
from tests.namzu_site.transfer.kept import kept_edges, kept_sessions, take

pytestmark = pytest.mark.django_db

LEGACY, LEGACY_HERE = "ses_legacy_default", "ses_legacy_generated"


def test_migrated_projects_each_keep_their_session_of_the_same_name(unpack_fixture: Callable[[str], Path]) -> None:
    root = unpack_fixture("v01x-legacy-migrated")
    report = take(root)
    sessions = kept_sessions()
    assert len(sessions) == report.sessions.imported >= 3
    for public_id, session in sessions.items():
        assert public_id == "ses_legacy_" + session["project"].removeprefix("prj_legacy_")
        assert session["extra"] == {"_legacy": True, "_originalId": "ses_legacy_default"}
    assert report.not_yet["legacyThreads"] == 4
    assert report.is_complete
    assert take(root).sessions.unchanged == len(sessions)


def test_a_legacy_root_is_not_imported_yet(unpack_fixture: Callable[[str], Path]) -> None:
    report = take(unpack_fixture("v01x-legacy"))
    assert report.not_yet["legacyThreads"] == 4
    assert not report.is_complete
    assert not Session.objects.exists()


def write_legacy(root: Path, *names: str, **changed: Any) -> None:
    """Sessions of these names beside the generated ones, each with one message that is its own and a child."""
    for number, name in enumerate(names, 10):
        folder = root / "projects" / PROJECT / "sessions" / name
        write_json(folder / "session.json", session_record(0, id=name, **changed))
        (folder / "messages.jsonl").write_text(message_line(0, number).replace(session_id(0), name))
    for number, name in enumerate(names, 1):
        edge = edge_record(0, number, id=f"sub_{number}", parentSessionId=name)
        sub_session = root / "projects" / PROJECT / "sessions" / name / "subsessions" / edge["id"]
        write_json(sub_session / "subsession.json", edge)


@pytest.mark.parametrize("extra", [{}, {"_originalId": LEGACY}])
def test_a_session_that_has_the_new_name_of_the_legacy_one_already_is_a_clash_of_ids(
    tmp_path: Path, extra: dict[str, Any]
) -> None:
    root = write_tree(tmp_path, sessions=1, messages=1)
    for number in (1, 2):
        write_json(
            root / "projects" / PROJECT / "sessions" / session_id(number) / "session.json", session_record(number)
        )
    write_legacy(root, LEGACY, LEGACY_HERE, **extra)
    for _ in range(2):
        report = take(root)
        assert [(finding["kind"], finding["place"], finding["reason"]) for finding in report.reported] == [
            ("duplicate", "id", f"{LEGACY_HERE} is in use for {LEGACY}; the first one is kept"),
            ("lineage", "parentSessionId", f"{LEGACY_HERE} was left out"),
        ]
        assert [message[1] for message in kept_sessions()[LEGACY_HERE]["messages"]] == ["msg_generated000010"]
        assert kept_edges().keys() == {"sub_1"}


def test_the_legacy_session_clashes_with_one_that_came_from_elsewhere(tmp_path: Path) -> None:
    write_legacy(write_tree(tmp_path / "one", sessions=2, messages=1), LEGACY_HERE)
    write_legacy(write_tree(tmp_path / "two", sessions=2, messages=1), LEGACY)
    take(tmp_path / "one")
    report = take(tmp_path / "two")
    assert ("duplicate", f"{LEGACY_HERE} is in use for {LEGACY_HERE}; the first one is kept") in [
        (finding["kind"], finding["reason"]) for finding in report.reported
    ]
    assert kept_sessions()[LEGACY_HERE]["extra"] == {}


def test_a_new_name_that_would_be_too_long_is_reported(tmp_path: Path) -> None:
    name = "prj_" + "a" * 60
    project = tmp_path / "projects" / name
    write_tree(tmp_path, sessions=1, messages=1)
    write_json(project / "project.json", project_record(id=name))
    for session in (LEGACY, "ses_ok"):
        write_json(project / "sessions" / session / "session.json", session_record(0, id=session, projectId=name))
    report = take(tmp_path)
    assert [(finding["file"].rpartition("/")[2], finding["kind"]) for finding in report.reported] == [
        (LEGACY, "damaged")
    ]
    assert kept_sessions().keys() == {session_id(0), "ses_ok"}
