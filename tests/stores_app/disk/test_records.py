"""Records as they are read: what is kept, and what is named as damaged."""

import json
import time
from typing import Any

import pytest

from stores_app.disk import (
    DamagedRecord,
    Line,
    NewerRecord,
    TornLine,
    canonical_line,
    read_message_line,
    read_project,
    read_session,
    read_sub_session,
)

AT = "2026-04-18T11:00:00.241Z"
ADA = {"kind": "user", "userId": "usr_ada", "tenantId": "tnt_acme"}
PROJECT: dict[str, Any] = {
    "id": "prj_1",
    "tenantId": "tnt_acme",
    "name": "N",
    "config": {},
    "createdAt": AT,
    "updatedAt": AT,
}
SESSION: dict[str, Any] = {
    "id": "ses_1", "projectId": "prj_1", "tenantId": "tnt_acme", "status": "idle", "currentActor": ADA,
    "previousActors": [], "workspaceId": None, "ownerVersion": 3, "createdAt": AT, "updatedAt": AT,
}  # fmt: skip
EDGE: dict[str, Any] = {
    "id": "sub_1", "parentSessionId": "ses_1", "childSessionId": "ses_2", "tenantId": "tnt_acme", "kind": "agent_spawn",
    "status": "archived", "spawnedBy": ADA, "spawnedAt": AT, "failureMode": "delegate",
    "completionMode": "summary_ref", "workspaceId": "wsp_1", "archiveRef": "arc_1", "archivedAt": AT, "updatedAt": AT,
}  # fmt: skip
LINE = (
    '{"id":"msg_1","sessionId":"ses_1","tenantId":"tnt_acme",'
    '"message":{"role":"user","content":"h\u00e9\u2028\u0085"},"at":"2026-04-18T11:00:00.241Z"}'
)


def dumped(record: Any) -> bytes:
    return json.dumps(record).encode()


def line(text: str | bytes, *, ended: bool = True) -> Line:
    return Line(7, text.encode() if isinstance(text, str) else text, ended)


def test_an_intact_session_is_read_whole() -> None:
    record = read_session(dumped({**SESSION, "_legacy": True}), "f")
    assert (record.id, record.status, record.owner_version, record.current_actor) == ("ses_1", "idle", 3, ADA)
    assert record.extra == {"_legacy": True}


def test_an_intact_edge_is_read_whole() -> None:
    record = read_sub_session(dumped(EDGE), "f")
    assert (record.archive_ref, record.workspace_id, record.summary_ref, record.extra) == ("arc_1", "wsp_1", None, {})
    assert record.archived_at == record.spawned_at


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"id": "sess_1"}, "id"),
        ({"id": "ses_../etc"}, "id"),
        ({"tenantId": "acme"}, "tenantId"),
        ({"status": "zombie"}, "status"),
        ({"status": None}, "status"),
        ({"ownerVersion": "3"}, "ownerVersion"),
        ({"ownerVersion": -1}, "ownerVersion"),
        ({"ownerVersion": 2**63}, "ownerVersion"),
        ({"createdAt": "2026-02-30T00:00:00Z"}, "createdAt"),
        ({"updatedAt": "yesterday"}, "updatedAt"),
        ({"currentActor": {"kind": "robot"}}, "currentActor"),
        ({"currentActor": {**ADA, "tenantId": "tnt_other"}}, "currentActor"),
        ({"previousActors": [ADA, {}]}, "previousActors[1]"),
        ({"workspaceId": "x"}, "workspaceId"),
        ({"schemaVersion": "2"}, "schemaVersion"),
        ({"note": "a\0b"}, "note"),
        ({"note": "\ud800"}, "note"),
        ({"note": [{"a": {"b\0": 1}}]}, "note"),
        ({"a\0": 1}, ""),
        ({"\ud800": 1}, ""),
        ({"x" * 5000: "\0"}, "x" * 100),
        ({"currentActor": {"kind": []}}, "currentActor"),
        ({"currentActor": {"kind": {}}}, "currentActor"),
        ({"currentActor": {}}, "currentActor"),
        ({"currentActor": {**ADA, "note": "\0"}}, "currentActor"),
        ({"currentActor": {**ADA, "note": "x" * 70_000}}, "currentActor"),
        ({"ownerVersion": 2**127}, "ownerVersion"),
        ({"ownerVersion": 10**4000}, "ownerVersion"),
        ({"ownerVersion": 1.5}, "ownerVersion"),
        ({"createdAt": 10**30}, "createdAt"),
        ({"createdAt": "9999-12-31T23:59:59.999-12:00"}, "createdAt"),
        ({"createdAt": "0001-01-01T00:00:00+14:00"}, "createdAt"),
        ({"createdAt": "1969-12-31T23:59:59.999Z"}, "createdAt"),
        ({"schemaVersion": 10**4000}, ""),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_place(changes: dict[str, Any], place: str) -> None:
    with pytest.raises(DamagedRecord) as caught:
        read_session(dumped({**SESSION, **changes}), "a/session.json")
    assert (caught.value.file, caught.value.place) == ("a/session.json", place)


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        ({"maxDelegationDepth": "x", "maxDelegationWidth": None}, ["maxDelegationDepth", "maxDelegationWidth"]),
        ({"maxDelegationWidth": [1]}, ["maxDelegationWidth"]),
        ({"maxDelegationWidth": 10**30, "maxDelegationDepth": 1.5}, ["maxDelegationDepth", "maxDelegationWidth"]),
        ({"maxDelegationWidth": -5}, ["maxDelegationWidth"]),
        ({"maxInterventionDepth": 10**4000}, ["maxInterventionDepth"]),
        ({"sharedDeliverables": 1}, ["sharedDeliverables"]),
        ({"sharedVaults": ["", 1]}, ["sharedVaults"]),
        ({"retentionPolicy": {"idleSubSessionTTL": -1, "maxSubSessionsPerProject": "x"}}, ["retentionPolicy"]),
        ({"workspace": {"backend": "elsewhere"}}, ["workspace"]),
        ({"workspace": {"backend": "directory", "new": 1}, "new": {"a": [10**30]}}, []),
    ],
)
def test_settings_out_of_bounds_get_their_defaults_and_are_named(config: dict[str, Any], wrong: list[str]) -> None:
    whole = {"maxInterventionDepth": 3, "more": 1, **config}
    record = read_project(dumped({**PROJECT, "config": whole}), "f")
    assert sorted(damage.place for damage in record.damages) == [f"config.{name}" for name in wrong]
    assert record.config == {name: value for name, value in whole.items() if name not in wrong}
    assert record.extra == ({"config": whole} if wrong else {})


@pytest.mark.parametrize(
    ("config", "kept"),
    [
        ({"maxDelegationWidth": 4.0}, {"maxDelegationWidth": 4}),
        ({"sharedVaults": None, "workspace": None, "more": None}, {"more": None}),
        ({"workspace": {"backend": "directory", "repoRoot": None}}, {"workspace": {"backend": "directory"}}),
    ],
)
def test_settings_are_kept_as_a_project_has_them(config: dict[str, Any], kept: dict[str, Any]) -> None:
    record = read_project(dumped({**PROJECT, "config": config}), "f")
    assert (repr(record.config), record.damages, record.extra) == (repr(kept), [], {})


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'{"id":', b"\xff", b"\xef\xbb\xbf{}", b"[" * 5000])
def test_what_is_no_object_is_damaged(data: bytes) -> None:
    for read in (read_project, read_session, read_sub_session):
        with pytest.raises(DamagedRecord):
            read(data, "f")


def test_a_record_of_a_higher_version_is_refused_by_name() -> None:
    for read, record in ((read_project, PROJECT), (read_session, SESSION), (read_sub_session, EDGE)):
        with pytest.raises(NewerRecord, match="schemaVersion 99 is higher"):
            read(dumped({**record, "schemaVersion": 99, "status": "not known yet"}), "f")
    with pytest.raises(NewerRecord, match="line 7"):
        read_message_line(line('{"schemaVersion":99,"message":{}}'), "f")


def test_a_line_as_the_runtime_writes_it_needs_no_envelope() -> None:
    record = read_message_line(line(LINE), "f")
    assert record.raw.decode() == '{"role":"user","content":"h\u00e9\u2028\u0085"}'
    assert record.envelope is None
    ids = {"id_": record.id, "session_id": record.session_id, "tenant_id": record.tenant_id}
    assert canonical_line(**ids, raw=record.raw, at=record.at).decode() == LINE


@pytest.mark.parametrize(
    "text",
    [
        LINE + "\r",
        LINE.replace(",", ", ", 1),
        LINE.replace('"at"', '"extra":1,"at"'),
        LINE.replace(".241Z", ".2417Z"),
        LINE.replace(".241Z", ".241+00:00"),
        LINE.replace("msg_1", r"msg\u005f1"),
        '{"at":"2026-04-18T11:00:00.241Z",' + LINE[1:],
    ],
)
def test_any_other_line_is_kept_beside_its_message(text: str) -> None:
    record = read_message_line(line(text), "f")
    assert record.envelope == text.encode()
    assert (record.id, record.raw.decode()) == ("msg_1", '{"role":"user","content":"h\u00e9\u2028\u0085"}')


@pytest.mark.parametrize("content", [r"\ud800", r"\u0000", r"\udc00\ud800", r"\ud83d\ude00", "\uffff", r"\u0001"])
def test_strange_characters_stay_byte_for_byte(content: str) -> None:
    text = LINE.replace("h\u00e9", content)
    for whole in (text, text.replace(",", ", ", 1)):
        record = read_message_line(line(whole), "f")
        assert record.raw in whole.encode()
        assert content.encode() in record.raw


@pytest.mark.parametrize(
    "name", [r"\ud800", r"\u0000", r"ro\udc00le", r"\ud83d\ude00", r"\ud800\":{\"\ud800\":[{\"\udfff\":1}]},\"x"]
)
def test_unknown_fields_of_any_name_stay_byte_for_byte(name: str) -> None:
    text = LINE.replace('"role"', f'"{name}":1,"role"')
    record = read_message_line(line(text), "f")
    assert (record.raw in text.encode(), record.facts.role) == (True, "user")
    assert read_message_line(line(f'{{"{name}":1,{LINE[1:]}'), "f").envelope is not None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (LINE.replace("user", r"\ud800"), "line 7: message.role"),
        ("null", "line 7"),
        ("{}", "line 7: message"),
        ('{"id":"msg_1","message":{"role":"user","content":""}}', "line 7"),
        (LINE.replace("user", "wizard"), "line 7: message.role"),
        (LINE.replace("msg_1", "m_1"), "line 7: id"),
        (LINE.replace("04-18", "04-31"), "line 7: at"),
        (LINE.replace("04-18", "04-18 "), "line 7: at"),
        (LINE.replace('"h', '"\t'), "line 7"),
        (LINE.replace('"h\u00e9', '1e400,"x":"'), "line 7"),
        (LINE.encode().replace("\u00e9".encode(), b"\xe9"), "line 7"),
    ],
)
def test_a_damaged_line_is_named_with_its_number(text: str | bytes, place: str) -> None:
    with pytest.raises(DamagedRecord) as caught:
        read_message_line(line(text), "f")
    assert caught.value.place == place
    assert not isinstance(caught.value, TornLine)


def test_a_last_line_without_newline_is_taken_when_it_is_whole() -> None:
    assert read_message_line(line(LINE, ended=False), "f").id == "msg_1"


@pytest.mark.parametrize("length", range(1, len(LINE.encode()), 7))
def test_a_last_line_that_is_cut_off_is_torn(length: int) -> None:
    with pytest.raises(TornLine):
        read_message_line(line(LINE.encode()[:length], ended=False), "f")


def test_a_line_that_is_torn_costs_little_however_it_is_made() -> None:
    text = LINE[: LINE.index("h\u00e9")] + "[{" * 40 + r"\"a\":" * 200_000
    for cut_off in (text, text + "}", text + r"\ud800", text + r"\ud800}"):
        started = time.process_time()
        with pytest.raises(TornLine):
            read_message_line(line(cut_off, ended=False), "f")
        assert time.process_time() - started < 2


def test_a_line_that_was_too_long_to_read_is_damaged() -> None:
    with pytest.raises(DamagedRecord, match="too long"):
        read_message_line(Line(7, None, True), "f")
