"""Changing and removing over HTTP."""

import json
import threading
from typing import Any

import pytest
from django.db import connection

from sessions_app.access.models import AuditEntry
from sessions_app.access.rules import Scope
from sessions_app.events.models import Event
from sessions_app.hierarchy import actions
from sessions_app.hierarchy.models import Session, SubSession
from sessions_app.wire.authentication import ApiKeyBearer
from sessions_app.wire.times import now_ms
from stores_app.session.models import Message
from tests.api_client import Answer, Caller, assert_problem, new_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Caller:
    ApiKeyBearer.forget_everything()
    return Caller(new_tenant())


def put(caller: Caller, path: str, record: dict[str, Any], **headers: str) -> Answer:
    return caller.client.put(caller.base + path, json.dumps(record), "application/json", headers=headers)


def patch(caller: Caller, path: str, body: dict[str, Any]) -> Answer:
    return caller.client.patch(caller.base + path, json.dumps(body), "application/json")


def delete(caller: Caller, path: str) -> Answer:
    return caller.client.delete(caller.base + path)


def spawn(caller: Caller, parent: str, **fields: Any) -> dict[str, Any]:
    body = {"parentSessionId": parent, "kind": "agent_spawn", "spawnedBy": caller.user(), **fields}
    if "childSessionId" not in body:
        body.setdefault("child", {"currentActor": None})
    return caller.created("/sub-sessions", body)


def refused(caller: Caller, parent: str, expected: int, code: str, **fields: Any) -> dict[str, Any]:
    body = {"parentSessionId": parent, "kind": "agent_spawn", "spawnedBy": caller.user(), **fields}
    if "childSessionId" not in body:
        body.setdefault("child", {"currentActor": None})
    counts = (Session.objects.count(), SubSession.objects.count(), AuditEntry.objects.count(), Event.objects.count())
    details = assert_problem(caller.post("/sub-sessions", body), expected, code)
    after = (Session.objects.count(), SubSession.objects.count(), AuditEntry.objects.count(), Event.objects.count())
    assert after == counts
    return details


# Projects


def test_a_projects_config_is_laid_over_and_goes_back_to_its_defaults(admin: Caller) -> None:
    path = f"/projects/{admin.project(config={'maxDelegationWidth': 3, 'sharedVaults': ['v']})['id']}"
    changed = patch(admin, path, {"name": "New", "config": {"maxDelegationDepth": 2}}).json()
    assert (changed["name"], changed["config"]["maxDelegationDepth"]) == ("New", 2)
    assert changed["config"]["maxDelegationWidth"] == 3
    back = patch(admin, path, {"config": {"maxDelegationWidth": None, "sharedVaults": None}}).json()
    assert back["config"]["maxDelegationWidth"] == 8
    assert "sharedVaults" not in back["config"]
    entry = AuditEntry.objects.filter(action="project.changed").latest("id")
    widths = [(state or {})["config"]["maxDelegationWidth"] for state in (entry.before, entry.after)]
    assert widths == [3, 8]


def test_a_change_that_changes_nothing_leaves_no_trace(admin: Caller) -> None:
    project, session = admin.project(), admin.session()
    counts = AuditEntry.objects.count(), Event.objects.count()
    assert patch(admin, f"/projects/{project['id']}", {"name": project["name"]}).json() == project
    assert put(admin, f"/sessions/{session['id']}", session).json() == session
    assert (AuditEntry.objects.count(), Event.objects.count()) == counts


# Sessions


def test_a_session_is_labelled_and_moved_by_hand(admin: Caller) -> None:
    session = admin.session()
    path = f"/sessions/{session['id']}"
    changed = put(admin, path, {**session, "label": "Fix", "status": "active", "workspaceId": "wsp_1"}).json()
    assert (changed["label"], changed["status"], changed["workspaceId"]) == ("Fix", "active", "wsp_1")
    back = put(admin, path, {**session, "status": "idle"}).json()
    assert "label" not in back
    assert (back["status"], back["workspaceId"]) == ("idle", None)
    kinds = list(Event.objects.filter(session__public_id=session["id"]).order_by("seq").values_list("kind", flat=True))
    assert kinds == ["session.created"] + ["session.status_changed", "session.labelled", "session.changed"] * 2


@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [("idle", "locked", ["active"]), ("active", "failed", ["idle"]), ("failed", "active", ["idle"]),
     ("locked", "idle", []), ("awaiting_merge", "idle", []), ("awaiting_hitl", "idle", []),
     ("idle", "archived", ["active"])],
)  # fmt: skip
def test_what_belongs_to_others_is_not_set_by_hand(admin: Caller, before: str, after: str, allowed: list[str]) -> None:
    session = admin.session()
    Session.objects.update(status=before)
    response = put(admin, f"/sessions/{session['id']}", {**session, "status": after})
    assert assert_problem(response, 409, "illegal_transition") == {"from": before, "to": after, "allowed": allowed}


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "ses_other"), ("projectId", "prj_other"), ("ownerVersion", 7), ("createdAt", "2020-01-01T00:00:00.000Z"),
     ("previousActors", "actor"), ("currentActor", "actor")],
)  # fmt: skip
def test_other_fields_cannot_be_changed(admin: Caller, field: str, value: Any) -> None:
    session = admin.session()
    actor = admin.user()
    value = {"previousActors": [actor], "currentActor": actor}.get(field, value)
    response = put(admin, f"/sessions/{session['id']}", {**session, field: value})
    assert assert_problem(response, 409, "immutable_field") == {"fields": [field]}


def test_a_record_that_is_not_whole_is_refused(admin: Caller) -> None:
    session = admin.session()
    for field in session.keys() - {"label"}:
        record = {name: value for name, value in session.items() if name != field}
        details = assert_problem(put(admin, f"/sessions/{session['id']}", record), 422, "invalid_request")
        assert details["places"] == [{"in": f"body.{field}", "message": "Field required"}]


def test_an_administrator_repairs_owner_fields_against_the_record_they_saw(admin: Caller) -> None:
    session = admin.session()
    path = f"/sessions/{session['id']}"
    tag = admin.get(path)["ETag"]
    wanted = {**session, "currentActor": admin.user(), "previousActors": [admin.user("usr_b")], "ownerVersion": 3}
    runner = Caller(admin.tenant, Scope.RUNNER)
    assert_problem(put(runner, path, wanted, **{"If-Match": tag}), 403, "insufficient_scope")
    assert_problem(put(admin, path, wanted, **{"If-Match": '"stale"'}), 412, "precondition_failed")
    repaired = put(admin, path, wanted, **{"If-Match": tag})
    assert repaired.status_code == 200
    assert repaired.json() == {**wanted, "updatedAt": repaired.json()["updatedAt"]}
    assert AuditEntry.objects.latest("id").action == "session.repaired"


def test_a_key_bound_to_somebody_else_does_not_write(admin: Caller) -> None:
    session = admin.session(currentActor=admin.user("usr_ada"))
    wanted = {**session, "label": "mine"}
    path = f"/sessions/{session['id']}"
    assert_problem(
        put(Caller(admin.tenant, Scope.RUNNER, actor=admin.user("usr_bob")), path, wanted), 403, "not_current_owner"
    )
    other = Caller(admin.tenant, Scope.RUNNER, actor=admin.user("usr_bob"))
    refused(other, session["id"], 403, "not_current_owner")
    for caller in (
        Caller(admin.tenant, Scope.RUNNER, actor=admin.user("usr_ada")),
        Caller(admin.tenant, Scope.OPERATOR, actor=admin.user("usr_bob")),
        Caller(admin.tenant, Scope.RUNNER),
    ):
        assert put(caller, path, wanted).status_code == 200


def test_a_session_alone_is_deleted_with_what_it_holds(admin: Caller) -> None:
    session = admin.session()["id"]
    admin.created(f"/sessions/{session}/messages", {"messages": [{"role": "user", "content": "x"}] * 3})
    assert delete(admin, f"/sessions/{session}").status_code == 204
    assert delete(admin, f"/sessions/{session}").status_code == 204
    assert delete(admin, "/sessions/a%00b").status_code == 204
    assert_problem(admin.get(f"/sessions/{session}"), 404, "not_found")
    assert not Message.objects.exists()
    assert AuditEntry.objects.latest("id").action == "session.deleted"
    assert Event.objects.latest("id").kind == "session.deleted"


def test_an_id_with_something_in_it_that_no_id_has_deletes_nothing(admin: Caller) -> None:
    session = admin.session()["id"]
    assert delete(admin, f"/sessions/{session[:8]}%00{session[8:]}").status_code == 204
    admin.found(f"/sessions/{session}")


def test_a_session_with_edges_is_not_deleted_until_they_are_gone(admin: Caller) -> None:
    parent = admin.session()["id"]
    edge = spawn(admin, parent)
    child = edge["childSessionId"]
    for session in (parent, child):
        assert_problem(delete(admin, f"/sessions/{session}"), 409, "session_has_sub_sessions")
    assert delete(admin, f"/sub-sessions/{edge['id']}").status_code == 204
    for session in (child, parent):
        assert delete(admin, f"/sessions/{session}").status_code == 204
    assert not Session.objects.exists()


def test_another_tenants_session_stays(admin: Caller) -> None:
    theirs = Caller(new_tenant("Globex"))
    session = theirs.session()["id"]
    edge = spawn(theirs, session)["id"]
    assert delete(admin, f"/sessions/{session}").status_code == 204
    assert delete(admin, f"/sub-sessions/{edge}").status_code == 204
    assert theirs.found(f"/sub-sessions/{edge}")["parentSessionId"] == session


# Sub-sessions


def test_an_edge_is_made_with_its_child(admin: Caller) -> None:
    parent = admin.session()
    owner = {"kind": "agent", "agentId": "agt_x", "tenantId": admin.tenant.public_id}
    edge = spawn(
        admin, parent["id"], child={"currentActor": owner, "label": "Dig"}, id="sub_mine", completionMode="merge_back"
    )
    assert (edge["id"], edge["status"], edge["completionMode"]) == ("sub_mine", "pending", "merge_back")
    child = admin.found(f"/sessions/{edge['childSessionId']}")
    assert (child["currentActor"], child["label"], child["projectId"]) == (owner, "Dig", parent["projectId"])
    assert admin.found(f"/sessions/{parent['id']}/drill")["children"] == [edge]
    assert_problem(
        admin.post("/sub-sessions", {"parentSessionId": parent["id"], "kind": "agent_spawn", "id": "sub_mine",
                                     "spawnedBy": admin.user(), "child": {"currentActor": None}}),
        409, "id_taken",
    )  # fmt: skip


def test_an_edge_is_made_to_a_root_without_edges(admin: Caller) -> None:
    project = admin.project()["id"]
    parent, child, other = (admin.session(projectId=project)["id"] for _ in range(3))
    edge = spawn(admin, parent, childSessionId=child)
    assert edge["childSessionId"] == child
    assert admin.found(f"/sessions/{child}/drill")["ancestry"] == [parent, child]
    refused(admin, other, 409, "child_has_history", childSessionId=child)
    refused(admin, other, 409, "child_has_history", childSessionId=parent)
    refused(admin, other, 409, "ancestry_cycle", childSessionId=other)
    refused(admin, parent, 409, "project_mismatch", childSessionId=admin.session()["id"])
    refused(admin, parent, 404, "not_found", childSessionId="ses_none")
    refused(admin, "ses_none", 404, "not_found")


@pytest.mark.parametrize(
    ("fields", "place"),
    [({"child": None}, "body"), ({"childSessionId": "ses_x", "child": {"currentActor": None}}, "body"),
     ({"kind": "robot"}, "body.kind"), ({"spawnedBy": {}}, "body.spawnedBy"),
     ({"child": {}}, "body.child.currentActor"),
     ({"child": {"currentActor": {}}}, "body.child.currentActor"), ({"failureMode": "x"}, "body.failureMode"),
     ({"parentSessionId": "prj_x"}, "body.parentSessionId"), ({"status": "idle"}, "body.status")],
)  # fmt: skip
def test_an_edge_that_does_not_fit_is_refused_with_the_place(admin: Caller, fields: Any, place: str) -> None:
    details = refused(admin, admin.session()["id"], 422, "invalid_request", **fields)
    assert details["places"][0]["in"] == place


def test_the_projects_limits_hold_on_every_edge(admin: Caller) -> None:
    project = admin.project(config={"maxDelegationDepth": 2, "maxDelegationWidth": 2})["id"]
    root = admin.session(projectId=project)["id"]
    first, _ = spawn(admin, root), spawn(admin, root)
    details = refused(admin, root, 409, "delegation_capacity_exceeded")
    assert details == {"dimension": "width", "current": 3, "limit": 2, "sessionId": root}
    below = spawn(admin, first["childSessionId"])
    details = refused(admin, below["childSessionId"], 409, "delegation_capacity_exceeded")
    assert details == {"dimension": "depth", "current": 3, "limit": 2, "sessionId": below["childSessionId"]}
    loose = admin.session(projectId=project)["id"]
    refused(admin, root, 409, "delegation_capacity_exceeded", childSessionId=loose)


def test_an_archived_session_takes_no_sub_session_and_no_change(admin: Caller) -> None:
    root = admin.session()["id"]
    edge = spawn(admin, root)
    child = admin.found(f"/sessions/{edge['childSessionId']}")
    Session.objects.filter(public_id=child["id"]).update(sealed_at=now_ms())
    refused(admin, child["id"], 409, "session_archived")
    assert_problem(put(admin, f"/sessions/{child['id']}", {**child, "label": "x"}), 409, "session_archived")
    assert_problem(put(admin, f"/sub-sessions/{edge['id']}", {**edge, "status": "active"}), 409, "session_archived")
    assert_problem(delete(admin, f"/sub-sessions/{edge['id']}"), 409, "session_archived")


def test_an_edges_status_follows_the_table_and_archiving_is_not_a_status_to_set(admin: Caller) -> None:
    edge = spawn(admin, admin.session()["id"])
    path = f"/sub-sessions/{edge['id']}"
    for status in ("active", "idle", "pending_merge", "merging", "merge_conflict", "merging", "merged"):
        assert put(admin, path, {**edge, "status": status}).json()["status"] == status
    details = assert_problem(put(admin, path, {**edge, "status": "archived"}), 409, "illegal_transition")
    assert details == {"from": "merged", "to": "archived", "allowed": []}
    details = assert_problem(
        put(admin, path, {**edge, "status": "merged", "kind": "intervention"}), 409, "immutable_field"
    )
    assert details == {"fields": ["kind"]}
    assert Event.objects.filter(kind="sub_session.status_changed").count() == 7


def test_a_child_whose_edge_goes_is_the_root_of_what_is_below_it(admin: Caller) -> None:
    root = admin.session()["id"]
    edge, sibling = spawn(admin, root), spawn(admin, root)
    child = edge["childSessionId"]
    below = spawn(admin, child)["childSessionId"]
    assert delete(admin, f"/sub-sessions/{edge['id']}").status_code == 204
    tree = admin.found(f"/sessions/{child}/tree")["items"]
    assert [(item["session"]["id"], item["lineage"]["depth"]) for item in tree] == [(child, 0), (below, 1)]
    assert {item["lineage"]["rootSessionId"] for item in tree} == {child}
    assert [i["session"]["id"] for i in admin.found(f"/sessions/{root}/tree")["items"]] == [
        root,
        sibling["childSessionId"],
    ]


@pytest.mark.django_db(transaction=True)
def test_sessions_that_are_added_while_their_tree_moves_move_with_it(admin: Caller) -> None:
    project = admin.project(config={"maxDelegationDepth": 9, "maxDelegationWidth": 100})["id"]
    top, moved = admin.session(projectId=project)["id"], admin.session(projectId=project)["id"]
    start = threading.Barrier(2)

    def add() -> None:
        start.wait()
        for _ in range(15):
            spawn(admin, moved)
        connection.close()

    def move() -> None:
        start.wait()
        for _ in range(6):
            edge = Session.objects.filter(public_id=moved, depth=0).exists() and admin.post(
                "/sub-sessions",
                {"parentSessionId": top, "kind": "agent_spawn", "spawnedBy": admin.user(), "childSessionId": moved},
            )
            if edge and edge.status_code == 201:
                delete(admin, f"/sub-sessions/{edge.json()['id']}")
        connection.close()

    threads = [threading.Thread(target=add), threading.Thread(target=move)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    root = Session.objects.get(public_id=moved)
    assert Session.objects.filter(root_id=root.root_id, depth=root.depth + 1).count() == 15


@pytest.mark.parametrize("target", ["parent", "child"])
def test_what_goes_between_a_look_and_its_lock_is_not_found(
    admin: Caller, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    project = admin.project()["id"]
    parent, child = admin.session(projectId=project), admin.session(projectId=project)
    gone = {"parent": parent, "child": child}[target]["id"]
    original = actions.edges._lock_with_roots

    def too_late(keys: set[int]) -> dict[int, Session]:
        Session.objects.filter(public_id=gone).update(public_id="ses_gone")
        delete(admin, "/sessions/ses_gone")
        return original(keys)

    monkeypatch.setattr(actions.edges, "_lock_with_roots", too_late)
    refused_body = {"parentSessionId": parent["id"], "childSessionId": child["id"], "kind": "agent_spawn",
                    "spawnedBy": admin.user()}  # fmt: skip
    assert_problem(admin.post("/sub-sessions", refused_body), 404, "not_found")


# Tenants


def test_tenants_are_made_by_platform_keys_alone(admin: Caller) -> None:
    assert_problem(admin.client.post("/api/v1/tenants", {"name": "x"}, "application/json"), 403, "insufficient_scope")
    admin.key.tenant_id = None
    admin.key.save()
    ApiKeyBearer.forget_everything()
    made = admin.client.post("/api/v1/tenants", {"name": "Globex", "id": "tnt_globex"}, "application/json")
    assert made.status_code == 201
    listed = admin.client.get("/api/v1/tenants", {"limit": 1}).json()
    assert listed["items"] == [made.json()]
    rest = admin.client.get("/api/v1/tenants", {"limit": 1, "cursor": listed["nextCursor"]}).json()
    assert [tenant["id"] for tenant in rest["items"]] == [admin.tenant.public_id]
    taken = admin.client.post("/api/v1/tenants", {"name": "Globex", "id": "tnt_globex"}, "application/json")
    assert_problem(taken, 409, "id_taken")
