"""What the runtime's own reader sees in its tree is what the API answers after the import."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from namzu_site.transfer.actions import import_tree
from sessions_app.access.rules import Scope, command
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.times import now_ms
from tests.api_client import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def expected(unpack_fixture: Callable[[str], Path], fixtures_dir: Path) -> dict[str, Any]:
    """The recorded answers, the tree being imported."""
    import_tree(unpack_fixture("v020-small"), by=command("import_state"), now=now_ms())
    loaded: dict[str, Any] = json.loads((fixtures_dir / "v020-small.expected.json").read_text())
    return loaded


@pytest.fixture
def callers(expected: dict[str, Any]) -> dict[str, Caller]:
    """A caller with a reading key for each tenant."""
    tenants = Tenant.objects.filter(public_id__in=expected["tenants"])
    return {tenant.public_id: Caller(tenant, Scope.READ) for tenant in tenants}


def items(caller: Caller, path: str, **query: Any) -> Iterator[dict[str, Any]]:
    """All items of a list, page by page."""
    cursor = None
    while True:
        page = caller.found(path, **query, **({"cursor": cursor} if cursor else {}))
        yield from page["items"]
        cursor = page["nextCursor"]
        if not cursor:
            return


def as_recorded(item: dict[str, Any]) -> dict[str, Any]:
    """A message in the form in which the expected file has it."""
    message = item["message"]
    content = message["content"]
    calls = [
        {
            "id": call["id"],
            "name": call["function"]["name"],
            "argumentsSha256": sha256(call["function"]["arguments"].encode()).hexdigest(),
        }
        for call in message.get("toolCalls", [])
    ]
    return {
        "id": item["id"],
        "at": item["at"],
        "role": message["role"],
        "keys": list(message),
        "contentSha256": None if content is None else sha256(content.encode()).hexdigest(),
        "contentUtf16Length": None if content is None else len(content.encode("utf-16-le")) // 2,
        "toolCalls": calls,
        "toolCallId": message.get("toolCallId"),
        "timestamp": message.get("timestamp"),
    }


def test_every_session_has_its_status_owner_and_times(expected: dict[str, Any], callers: dict[str, Caller]) -> None:
    names = (
        "projectId", "tenantId", "status", "ownerVersion", "currentActor", "previousActors", "workspaceId",
        "createdAt", "updatedAt",
    )  # fmt: skip
    assert len(expected["sessions"]) == 35
    for session_id, record in expected["sessions"].items():
        answer = callers[record["tenantId"]].found(f"/sessions/{session_id}")
        assert {name: answer[name] for name in names} == {name: record[name] for name in names}


def test_every_session_has_its_ancestry_and_its_children_in_order(
    expected: dict[str, Any], callers: dict[str, Caller]
) -> None:
    for session_id, record in expected["sessions"].items():
        caller = callers[record["tenantId"]]
        ancestry = [item["id"] for item in items(caller, f"/sessions/{session_id}/ancestry")]
        children = list(items(caller, f"/sessions/{session_id}/children", limit=2))
        assert ancestry == record["ancestry"]
        assert [child["id"] for child in children] == record["childSubSessionIds"]
        assert [child["childSessionId"] for child in children] == record["childSessionIds"]


def test_a_drill_is_the_runtimes_own_answer(expected: dict[str, Any], callers: dict[str, Caller]) -> None:
    for session_id, recorded in expected["drill"].items():
        answer = callers[expected["sessions"][session_id]["tenantId"]].found(f"/sessions/{session_id}/drill")
        assert answer["ancestry"] == recorded["ancestry"]
        assert recorded["session"].items() <= answer["session"].items()
        assert len(answer["children"]) == len(recorded["children"])
        for child, recorded_child in zip(answer["children"], recorded["children"], strict=True):
            assert recorded_child.items() <= child.items()


def test_every_message_has_its_id_time_role_and_content(expected: dict[str, Any], callers: dict[str, Caller]) -> None:
    for session_id, record in expected["sessions"].items():
        found = list(items(callers[record["tenantId"]], f"/sessions/{session_id}/messages", limit=4))
        assert [as_recorded(item) for item in found] == record["messages"]
        assert [item["seq"] for item in found] == list(range(1, record["messageCount"] + 1))
        assert {(item["sessionId"], item["tenantId"]) for item in found} <= {(session_id, record["tenantId"])}


def test_every_project_has_its_record(expected: dict[str, Any], callers: dict[str, Caller]) -> None:
    for tenant_id, tenant in expected["tenants"].items():
        for project_id, record in tenant["projects"].items():
            answer = callers[tenant_id].found(f"/projects/{project_id}")
            assert (answer["name"], answer["createdAt"]) == (record["name"], record["createdAt"])
            assert record["config"].items() <= answer["config"].items()


def test_another_tenants_sessions_are_not_there(expected: dict[str, Any], callers: dict[str, Caller]) -> None:
    for session_id, record in expected["sessions"].items():
        for tenant_id, caller in callers.items():
            if tenant_id != record["tenantId"]:
                assert caller.get(f"/sessions/{session_id}/drill").status_code == 404
