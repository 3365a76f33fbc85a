"""Whatever a record holds: the import reports it and goes on, and what lies beside it comes in."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namzu_site.transfer.report import ImportReport
from sessions_app.hierarchy.models import Project, Session
from stores_app.disk.places import Places
from tests.api_client import Caller
from tests.namzu_site.transfer.generated_tree import (
    PROJECT,
    TENANT,
    edge_record,
    message_line,
    project_record,
    session_id,
    session_record,
    write_edge,
    write_json,
    write_tree,
)
from tests.namzu_site.transfer.kept import kept_edges, kept_sessions, take, without_a_trace

pytestmark = pytest.mark.django_db

OTHER, OTHER_SESSION = "prj_other", "ses_other"
TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(["\0", "\ud800", "a\udfffb", "\0" * 3])
NUMBERS = st.one_of(
    st.integers(), st.sampled_from([2**63, -(2**63) - 1, 2**127, 10**400, 10**4000]), st.floats(allow_nan=False)
).filter(lambda number: number not in (float("inf"), float("-inf")))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ACTORS = st.fixed_dictionaries(
    {"kind": VALUES | st.sampled_from(["user", "agent"]), "tenantId": st.just(TENANT), "userId": st.just("usr_ada")},
    optional={"note": VALUES, "parentActor": VALUES},
)
SETTINGS = st.dictionaries(st.sampled_from(["maxDelegationDepth", "maxDelegationWidth", "workspace"]) | TEXTS, VALUES)


def changes(record: dict[str, Any]) -> "st.SearchStrategy[dict[str, Any]]":
    """Any values for some of the record's fields, and for some that it does not have."""
    names = st.sampled_from([*record, "schemaVersion", "_originalId"]) | TEXTS
    return st.dictionaries(names, VALUES | ACTORS | st.lists(ACTORS, max_size=2), min_size=1, max_size=3)


def write_beside(root: Path) -> Path:
    """Two projects; the second holds one session with two messages. The first has three sessions and two edges."""
    write_tree(root, sessions=3, messages=2)
    other = root / "projects" / OTHER
    write_json(other / "project.json", project_record(id=OTHER))
    record = session_record(0, id=OTHER_SESSION, projectId=OTHER)
    write_json(other / "sessions" / OTHER_SESSION / "session.json", record)
    lines = "".join(message_line(0, number) for number in range(2)).replace(session_id(0), OTHER_SESSION)
    (other / "sessions" / OTHER_SESSION / "messages.jsonl").write_text(lines)
    return root


def imported_with(change: Callable[[Path], Any]) -> tuple[ImportReport, list[str], list[str]]:
    """What an import of the tree says after `change`; sessions and edges that came in. A second one adds nothing."""

    def look() -> tuple[ImportReport, list[str], list[str]]:
        with TemporaryDirectory() as folder:
            root = write_beside(Path(folder))
            change(root / "projects" / PROJECT)
            report = take(root)
            kept = kept_sessions(), kept_edges()
            again = take(root)
            assert (kept_sessions(), kept_edges()) == kept
            assert list(again.reported) == list(report.reported)
        assert len(kept[0][OTHER_SESSION]["messages"]) == 2
        return report, sorted(kept[0]), sorted(kept[1])

    found: tuple[ImportReport, list[str], list[str]] = without_a_trace(look)
    return found


def write_any(file: Path, record: Any) -> None:
    """With what UTF-8 cannot hold written as escapes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record))


@given(changes(project_record()))
def test_a_project_may_hold_anything(changed: dict[str, Any]) -> None:
    imported_with(lambda project: write_any(project / "project.json", project_record(**changed)))


@given(SETTINGS)
def test_a_config_may_hold_anything_and_sessions_can_be_spawned_after_it(config: dict[str, Any]) -> None:
    def look() -> int:
        with TemporaryDirectory() as folder:
            root = write_beside(Path(folder))
            write_any(root / "projects" / PROJECT / "project.json", project_record(config=config))
            take(root)
        project = Project.objects.filter(public_id=PROJECT).select_related("tenant").first()
        return spawned(project) if project else 201

    assert without_a_trace(look) in (201, 409)


def spawned(project: Project) -> int:
    """The status of the answer to a new child session."""
    caller = Caller(project.tenant)
    child = {"parentSessionId": session_id(0), "child": {"currentActor": None}}
    body = {**child, "kind": "agent_spawn", "spawnedBy": caller.user()}
    assert caller.found(f"/projects/{PROJECT}")["config"] == project.config
    return caller.post("/sub-sessions", body).status_code


@given(changes(session_record(1)))
def test_a_session_may_hold_anything(changed: dict[str, Any]) -> None:
    record = session_record(1, **changed)
    _, sessions, _ = imported_with(lambda project: write_any(folder_of(project, 1) / "session.json", record))
    assert {session_id(0), session_id(2)} <= set(sessions)


@given(changes(edge_record(0, 1)))
def test_an_edge_may_hold_anything(changed: dict[str, Any]) -> None:
    record = edge_record(0, 1, **changed)
    place = Path("subsessions", edge_record(0, 1)["id"], "subsession.json")
    _, sessions, edges = imported_with(lambda project: write_any(folder_of(project, 0) / place, record))
    assert sessions == sorted([*map(session_id, range(3)), OTHER_SESSION])
    assert edge_record(0, 2)["id"] in edges


@given(changes(json.loads(message_line(1, 1))), st.dictionaries(TEXTS | st.just("timestamp"), VALUES, max_size=2))
def test_a_message_may_hold_anything(changed: dict[str, Any], inside: dict[str, Any]) -> None:
    line = json.loads(message_line(1, 1))
    lines = [line | changed, {**line, "message": {**line["message"], **inside}}]
    text = message_line(1, 0) + "".join(json.dumps(one) + "\n" for one in lines) + message_line(1, 5)

    def look() -> list[str]:
        with TemporaryDirectory() as folder:
            root = write_beside(Path(folder))
            (folder_of(root / "projects" / PROJECT, 1) / "messages.jsonl").write_text(text)
            take(root)
            return [message[1] for message in kept_sessions()[session_id(1)]["messages"]]

    if "schemaVersion" not in changed:
        kept = without_a_trace(look)
        assert (kept[0], kept[-1]) == ("msg_generated000000", "msg_generated000005")


def folder_of(project: Path, number: int) -> Path:
    return project / "sessions" / session_id(number)


@pytest.mark.parametrize(
    "name", [b"ses_\xff", b"ses_\x1b[2J", b"ses_" + b"x" * 61, b"\xff", b"ses_\n", "ses_\u2028".encode()]
)
def test_a_folder_of_any_name_is_reported_and_passed_over(name: bytes) -> None:
    def change(project: Path) -> None:
        for folder in (project / "sessions", project.parent):
            write_any(folder / name.decode(errors="surrogateescape") / "session.json", {})

    report, sessions, _ = imported_with(change)
    assert len(sessions) == 4
    assert [finding["kind"] for finding in report.reported] == ["damaged", "damaged"]


def test_what_the_database_refuses_is_left_out_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Places, "check_keepable", lambda *_: None)

    def change(project: Path) -> None:
        write_any(folder_of(project, 1) / "session.json", session_record(1, note="\0"))
        edge = edge_record(0, 2, note="\0")
        write_any(folder_of(project, 0) / "subsessions" / edge["id"] / "subsession.json", edge)
        write_any(project.parent / "prj_nul" / "project.json", project_record(id="prj_nul", name="a\0b"))

    report, sessions, _ = imported_with(change)
    assert sessions == [session_id(0), session_id(2), OTHER_SESSION]
    held = [finding["file"].rpartition("/")[2] for finding in report.reported if "cannot hold" in finding["reason"]]
    assert sorted(held) == ["project.json", "session.json", "subsession.json"]


def test_sessions_that_go_with_their_project_are_counted() -> None:
    for change in (
        lambda project: (project / "project.json").unlink(),
        lambda project: (project / "project.json").write_text("{"),
        lambda project: project.rename(project.parent / "thd_old"),
    ):
        report, sessions, _ = imported_with(change)
        assert sessions == [OTHER_SESSION]
        assert "3 sessions are left out with their project" in [finding["reason"] for finding in report.reported]


def test_damaged_settings_are_reported_and_get_their_defaults(tmp_path: Path) -> None:
    config = {"maxDelegationDepth": "x", "maxDelegationWidth": 10**30, "maxInterventionDepth": 3, "more": [1e23]}
    root = write_beside(tmp_path)
    write_json(root / "projects" / PROJECT / "project.json", project_record(config=config))
    for _ in range(2):
        report = take(root)
        assert [(finding["kind"], finding["place"]) for finding in report.reported] == [
            ("damaged", "config.maxDelegationDepth"),
            ("damaged", "config.maxDelegationWidth"),
        ]
        project = Project.objects.get(public_id=PROJECT)
        assert {**project.config, "more": None} == {
            "maxDelegationDepth": 4, "maxDelegationWidth": 8, "maxInterventionDepth": 3, "sharedDeliverables": False,
            "more": None,
        }  # fmt: skip
    assert spawned(project) == 201
    assert Session.objects.count() == 5


def test_numbers_that_the_database_writes_anew_make_no_difference(tmp_path: Path) -> None:
    numbers = [1e23, 1e22, 123456789012345680.0, -0.0, 1e-320, 1.7976931348623157e308, 4.0, 2**53 + 1, 10**400, 0.1]
    root, note = write_beside(tmp_path), {"note": numbers}
    actor = {"kind": "user", "userId": "usr_ada", "tenantId": TENANT, **note}
    project = root / "projects" / PROJECT
    write_json(project / "project.json", project_record(config=note, **note))
    write_json(
        folder_of(project, 1) / "session.json", session_record(1, currentActor=actor, previousActors=[actor], **note)
    )
    write_edge(project, 0, 1, spawnedBy=actor, prevArtifactRef=note, **note)
    assert take(root).is_complete
    again = take(root)
    assert list(again.reported) == []
    assert (again.projects.unchanged, again.sessions.unchanged, again.sub_sessions.unchanged) == (2, 4, 2)
    write_json(project / "project.json", project_record(config=note, note=[*numbers[:-1], 0.2]))
    assert take(root).projects.differs == 1
