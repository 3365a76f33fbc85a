"""Whatever is broken in a tree: the import goes on, says so, and the intact neighbours come in as if nothing were."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stores_app.session.models import Message
from tests.namzu_site.transfer.kept import Kept, kept_edges, kept_sessions, take, without_a_trace

pytestmark = pytest.mark.django_db

CASES = (
    "01-truncated-last-line", "02-stale-tmp-files", "03-invalid-session-json", "04-empty-session-json",
    "05-missing-project-json", "06-missing-child-session", "07-parent-cycle", "08-self-parent", "09-two-parents",
    "10-duplicate-message-ids", "11-archive-without-marker", "12-archive-missing", "13-tenant-mismatch",
    "15-nul-and-lone-surrogate", "17-symlink-outside-root", "18-wrong-id-prefix", "19-non-utf8",
    "20-five-megabyte-line", "21-bad-types-and-enums", "23-run-files-damaged",
)  # fmt: skip
UNHARMED = {"02-stale-tmp-files", "11-archive-without-marker", "12-archive-missing", "23-run-files-damaged"}
READ_WHOLE = UNHARMED | {"15-nul-and-lone-surrogate", "20-five-megabyte-line"}


_intact: list[tuple[Kept, Kept]] = []


@pytest.fixture
def intact(unpack_fixture: Callable[[str], Path]) -> tuple[Kept, Kept]:
    """Sessions and edges of the tree without damage; imported once for all tests."""

    def look() -> tuple[Kept, Kept]:
        take(unpack_fixture("v020-small"))
        return kept_sessions(), kept_edges()

    if not _intact:
        _intact.append(without_a_trace(look))
    return _intact[0]


def parts_of(path: str, prefix: str) -> Iterator[str]:
    return (part for part in path.split("/") if part.startswith(prefix))


@pytest.mark.parametrize("name", CASES)
def test_the_neighbours_of_what_is_damaged_come_in_whole_and_twice_changes_nothing(
    name: str, intact: tuple[Kept, Kept], unpack_fixture: Callable[[str], Path], fixtures_dir: Path
) -> None:
    cases = json.loads((fixtures_dir / "v020-damaged.cases.json").read_text())
    case: dict[str, Any] = next(case for case in cases if case["case"] == name)
    places = [] if name in UNHARMED else case["where"]
    harmed = {part for place in places for part in parts_of(place, "ses_")}
    projects = {part for place in places if place.endswith("project.json") for part in parts_of(place, "prj_")}

    report = take(unpack_fixture("v020-damaged") / name)

    assert report.is_complete == (name in READ_WHOLE)
    sessions, edges = kept_sessions(), kept_edges()
    for public_id, session in intact[0].items():
        if public_id not in harmed and session["project"] not in projects:
            assert sessions[public_id] == session
    for public_id, edge in intact[1].items():
        ends = {end for end in edge["ends"] if end not in sessions}
        if ends:
            assert public_id not in edges
        elif edge["ends"][0] not in harmed:
            assert {**edges[public_id], "place": None} == {**edge, "place": None}

    again = take(unpack_fixture("v020-damaged") / name)
    assert list(again.reported) == list(report.reported)
    assert (kept_sessions(), kept_edges()) == (sessions, edges)
    assert (again.sessions.imported, again.messages.imported, again.messages.added) == (0, 0, 0)


def test_every_damaged_case_is_tried(fixtures_dir: Path) -> None:
    cases = json.loads((fixtures_dir / "v020-damaged.cases.json").read_text())
    assert tuple(case["case"] for case in cases) == CASES


@pytest.mark.parametrize("name", ["07-parent-cycle", "08-self-parent", "09-two-parents"])
def test_an_edge_too_many_leaves_the_tree_as_it_was(
    name: str, intact: tuple[Kept, Kept], unpack_fixture: Callable[[str], Path]
) -> None:
    report = take(unpack_fixture("v020-damaged") / name)
    assert [finding["kind"] for finding in report.reported] == ["lineage"]
    assert (kept_sessions(), kept_edges()) == intact


def test_what_lies_outside_of_the_root_does_not_come_in(unpack_fixture: Callable[[str], Path]) -> None:
    case = unpack_fixture("v020-damaged") / "17-symlink-outside-root"
    assert any(b"SECRET" in file.read_bytes() for file in (case / "outside").rglob("*") if file.is_file())
    report = take(case)
    assert sorted((finding["kind"], finding["file"].rpartition("/")[2]) for finding in report.reported) == [
        ("refused", "arc_symlink00001"),
        ("refused", "loop"),
        ("refused", "messages.jsonl"),
        ("refused", "ses_symlink00001"),
    ]
    assert "ses_symlink00001" not in kept_sessions()
    assert not any(b"SECRET" in bytes(row.raw) + bytes(row.envelope or b"") for row in Message.objects.all())


def test_strange_characters_are_kept_byte_for_byte(unpack_fixture: Callable[[str], Path]) -> None:
    case = unpack_fixture("v020-damaged") / "15-nul-and-lone-surrogate"
    take(case)
    file = next(case.glob(".namzu/projects/prj_lnem6rh9jmdx/sessions/ses_qww4fp997iqa/messages.jsonl"))
    rows = Message.objects.filter(session__public_id="ses_qww4fp997iqa").order_by("seq")
    lines = file.read_bytes().removesuffix(b"\n").split(b"\n")
    assert len(lines) == len(rows) == 8
    for row, line in zip(rows, lines, strict=True):
        assert bytes(row.raw) in line
