"""The hierarchy over HTTP."""

import base64
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from sessions_app.access.models import ApiKey
from sessions_app.access.rules import Scope
from sessions_app.hierarchy import actions
from sessions_app.hierarchy.models import Project, Session
from sessions_app.wire.authentication import ApiKeyBearer
from sessions_app.wire.times import now_ms
from tests.api_client import BY, Caller, assert_problem, new_tenant
from tests.trees import make_tree

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_cached_keys() -> None:
    ApiKeyBearer.forget_everything()


@pytest.fixture
def admin() -> Caller:
    return Caller(new_tenant())


def spawn(caller: Caller, parent_id: str, **fields: Any) -> tuple[str, str]:
    """Ids of a new edge and its child."""
    parent = Session.objects.for_tenant(caller.tenant.pk).select_related("project", "tenant").get(public_id=parent_id)
    values = {"current_actor": None, "kind": "agent_spawn", "spawned_by": caller.user(), "now": now_ms(), **fields}
    edge = actions.spawn_session(parent=parent, by=BY, **values)
    return edge.public_id, edge.child.public_id


def test_a_project_is_created_and_read_back(admin: Caller) -> None:
    made = admin.created("/projects", {"name": "Ödeme 💳", "config": {"maxDelegationWidth": 3}, "id": "prj_mine"})
    assert made["config"] == {
        "maxDelegationDepth": 4, "maxDelegationWidth": 3, "maxInterventionDepth": 10, "sharedDeliverables": False,
    }  # fmt: skip
    assert admin.found("/projects/prj_mine") == made
    assert admin.found("/projects") == {"items": [made], "nextCursor": None}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "body.name"),
        ({"name": ""}, "body.name"),
        ({"name": "a\0b"}, "body.name"),
        ({"name": "x" * 201}, "body.name"),
        ({"name": "\u200b\u202e"}, "body.name"),
        (
            {"name": "x", "config": {"workspace": {"backend": "directory", "repoRoot": "a\0b"}}},
            "body.config.workspace.repoRoot",
        ),
        (
            {"name": "x", "config": {"retentionPolicy": {"archiveBackend": "a\0b"}}},
            "body.config.retentionPolicy.archiveBackend",
        ),
        ({"name": "x", "zzz": 1}, "body.zzz"),
        ({"name": "x", "id": "ses_1"}, "body.id"),
        ({"name": "x", "config": {"maxDelegationDepth": "4"}}, "body.config.maxDelegationDepth"),
        ({"name": "x", "config": {"maxDelegationDepth": 10**30}}, "body.config.maxDelegationDepth"),
        ({"name": "x", "config": {"maxDelegationWidth": -1}}, "body.config.maxDelegationWidth"),
        ({"name": "x", "config": {"workspace": {"backend": "cloud"}}}, "body.config.workspace.backend"),
    ],
)
def test_a_project_that_does_not_fit_is_refused_with_the_place(admin: Caller, body: Any, place: str) -> None:
    details = assert_problem(admin.post("/projects", body), 422, "invalid_request")
    assert place in [found["in"] for found in details["places"]]


def test_a_session_is_created_and_read_back(admin: Caller) -> None:
    owner = {"kind": "agent", "agentId": "agt_x", "tenantId": admin.tenant.public_id, "parentActor": admin.user()}
    made = admin.session(currentActor=owner, label="Fix the cart")
    assert made["status"] == "idle"
    assert made["currentActor"] == owner
    assert (made["label"], made["ownerVersion"], made["previousActors"]) == ("Fix the cart", 0, [])
    assert admin.found(f"/sessions/{made['id']}") == made


def test_a_session_needs_its_owner_named_even_when_there_is_none(admin: Caller) -> None:
    project = admin.project()["id"]
    details = assert_problem(admin.post("/sessions", {"projectId": project}), 422, "invalid_request")
    assert details["places"] == [{"in": "body.currentActor", "message": "Field required"}]


def test_an_owner_of_another_tenant_is_refused(admin: Caller) -> None:
    actor = {"kind": "user", "userId": "usr_x", "tenantId": "tnt_other"}
    response = admin.post("/sessions", {"projectId": admin.project()["id"], "currentActor": actor})
    assert "actor.tenantId" in str(assert_problem(response, 422, "invalid_request"))


def test_an_id_that_is_in_use_is_a_conflict(admin: Caller) -> None:
    admin.session(id="ses_mine")
    response = admin.post("/sessions", {"projectId": admin.project()["id"], "currentActor": None, "id": "ses_mine"})
    assert assert_problem(response, 409, "id_taken") == {"id": "ses_mine"}


def test_a_body_that_names_another_tenant_is_refused(admin: Caller) -> None:
    assert_problem(admin.post("/projects", {"name": "x", "tenantId": "tnt_other"}), 403, "tenant_isolation")
    admin.created("/projects", {"name": "x", "tenantId": admin.tenant.public_id})


READS = ["/projects/{prj}", "/sub-sessions/{sub}", "/sessions/{ses}"] + [
    f"/sessions/{{ses}}/{part}" for part in ("children", "ancestry", "drill", "tree", "messages")
]


@pytest.mark.parametrize("path", READS)
def test_unknown_foreign_and_impossible_ids_get_the_same_answer(admin: Caller, path: str) -> None:
    other = Caller(new_tenant("Globex"))
    theirs = other.session()
    edge, _ = spawn(other, theirs["id"])
    foreign = {"prj": theirs["projectId"], "ses": theirs["id"], "sub": edge}
    for ids in (foreign, {"prj": "prj_none", "ses": "ses_none", "sub": "sub_none"}, dict.fromkeys(foreign, "a%00b")):
        assert_problem(admin.get(path.format(**ids)), 404, "not_found")
    foreign_path = f"/api/v1/tenants/{other.tenant.public_id}{path.format(**foreign)}"
    assert_problem(admin.client.get(foreign_path), 404, "not_found")
    assert other.get(path.format(**foreign)).status_code == 200


def test_sessions_are_listed_newest_first_in_pages(admin: Caller) -> None:
    project = admin.project()["id"]
    made = [admin.session(projectId=project)["id"] for _ in range(5)]
    listed, cursor = [], None
    while True:
        found = admin.found("/sessions", limit=2, **({"cursor": cursor} if cursor else {}))
        listed += [item["id"] for item in found["items"]]
        cursor = found["nextCursor"]
        if cursor is None:
            break
    assert listed == made[::-1]


def test_sessions_are_filtered(admin: Caller) -> None:
    project = admin.project()["id"]
    owned = admin.session(projectId=project, currentActor=admin.user("usr_bob"), label="Nightly sweep")["id"]
    free = admin.session()["id"]
    _, child = spawn(admin, owned)

    def ids(**query: Any) -> set[str]:
        return {item["id"] for item in admin.found("/sessions", **query)["items"]}

    assert ids(project=project) == {owned, child}
    assert ids(actor="usr_bob") == {owned}
    assert ids(root=owned) == {owned, child}
    assert ids(root=child) == set()
    assert ids(status="idle") == {owned, free, child}
    assert ids(status="failed") == set()
    assert ids(q="night") == {owned}
    assert ids(q=free) == {free}
    assert ids(project="prj_unknown") == set()


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ({"limit": 0}, "query.limit"), ({"limit": 501}, "query.limit"), ({"limit": "x"}, "query.limit"),
        ({"limit": 10**30}, "query.limit"), ({"status": "zombie"}, "query.status"),
        ({"project": "\0"}, "query.project"),
        ({"actor": "bob"}, "query.actor"), ({"actor": "usr_\0"}, "query.actor"), ({"cursor": "zz"}, "query.cursor"),
        ({"cursor": "é"}, "query.cursor"), ({"cursor": "W10"}, "query.cursor"), ({"cursor": "WzEsMV0"}, None),
        ({"cursor": base64.urlsafe_b64encode(b"[" * 1400).decode()}, "query.cursor"),
        ({"cursor": "Wzk5OTk5OTk5OTk5OTk5OTk5OTk5OSwxXQ"}, "query.cursor"), ({"q": "\0"}, None),
    ],
)  # fmt: skip
def test_a_wrong_filter_is_refused_with_the_place(admin: Caller, query: Any, place: str | None) -> None:
    response = admin.get("/sessions", **query)
    if place is None:
        assert response.status_code == 200
    else:
        assert assert_problem(response, 422, "invalid_request")["places"][0]["in"] == place


def test_children_come_by_time_then_id_and_drill_shows_both_ways(admin: Caller) -> None:
    root = admin.session()["id"]
    tie = now_ms()
    later = spawn(admin, root, now=tie + timedelta(seconds=1))
    tied = sorted(spawn(admin, root, now=tie) for _ in range(3))
    _, leaf = spawn(admin, tied[0][1])
    expected = [edge for edge, _ in tied] + [later[0]]
    drilled = admin.found(f"/sessions/{root}/drill")
    assert [edge["id"] for edge in drilled["children"]] == expected
    assert drilled["ancestry"] == [root]
    first = admin.found(f"/sessions/{root}/children", limit=3)
    rest = admin.found(f"/sessions/{root}/children", limit=3, cursor=first["nextCursor"])
    assert [edge["id"] for edge in first["items"] + rest["items"]] == expected
    assert rest["nextCursor"] is None
    assert admin.found(f"/sessions/{leaf}/drill")["ancestry"] == [root, tied[0][1], leaf]
    assert [s["id"] for s in admin.found(f"/sessions/{leaf}/ancestry")["items"]] == [root, tied[0][1], leaf]
    assert admin.found(f"/sub-sessions/{later[0]}") == drilled["children"][-1]


def test_a_tree_is_walked_in_pages(admin: Caller) -> None:
    root = admin.session()["id"]
    _, one = spawn(admin, root)
    _, two = spawn(admin, root)
    _, below_one = spawn(admin, one)
    walked: list[tuple[str, int, str | None]] = []
    cursor = None
    while True:
        found = admin.found(f"/sessions/{root}/tree", limit=1, **({"cursor": cursor} if cursor else {}))
        walked += [(i["session"]["id"], i["lineage"]["depth"], i["lineage"]["parentSessionId"]) for i in found["items"]]
        cursor = found["nextCursor"]
        if cursor is None:
            break
    assert walked == [(root, 0, None), (one, 1, root), (below_one, 2, one), (two, 1, root)]
    assert len(admin.found(f"/sessions/{root}/tree", depth=1)["items"]) == 3
    assert [i["session"]["id"] for i in admin.found(f"/sessions/{one}/tree")["items"]] == [one, below_one]


def test_a_call_without_a_usable_key_is_refused(admin: Caller) -> None:
    path = f"{admin.base}/sessions"
    tokens = ["", "Bearer", "Bearer x", "Basic abc", f"Bearer {admin.token[:-1]}0", "Bearer nmz_unknown1_" + "0" * 48,
              "Bearer nmz_\0_é", f"Bearer {admin.token} "]  # fmt: skip
    answers = [Client(headers={"authorization": token}).get(path) for token in tokens]
    for answer in answers[:-1]:
        assert_problem(answer, 401, "not_authenticated")
        assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answers[-1].status_code == 200


@pytest.mark.parametrize("field", ["revoked_at", "expires_at"])
def test_a_revoked_or_expired_key_is_refused(admin: Caller, field: str) -> None:
    ApiKey.objects.filter(pk=admin.key.pk).update(**{field: now_ms()})
    assert_problem(admin.get("/sessions"), 401, "not_authenticated")


def test_a_key_remembers_when_it_was_last_used(admin: Caller) -> None:
    admin.found("/sessions")
    admin.key.refresh_from_db()
    assert admin.key.last_used_at is not None


@pytest.mark.parametrize(
    ("scope", "path", "body"),
    [
        (Scope.OPERATOR, "/projects", {"name": "x"}),
        (Scope.READ, "/sessions", {"projectId": "prj_x", "currentActor": None}),
        (Scope.READ, "/sessions/ses_x/messages", {"message": {"role": "user", "content": "x"}}),
    ],
)
def test_too_little_scope_is_refused(scope: Scope, path: str, body: Any) -> None:
    details = assert_problem(Caller(new_tenant(), scope).post(path, body), 403, "insufficient_scope")
    assert details["actual"] == scope.word


def test_a_platform_key_may_name_any_tenant(admin: Caller) -> None:
    session = admin.session()["id"]
    admin.key.tenant_id = None
    admin.key.save()
    ApiKeyBearer.forget_everything()
    assert admin.found(f"/sessions/{session}")["id"] == session
    assert_problem(admin.client.get("/api/v1/tenants/tnt_none/sessions"), 404, "not_found")
    assert_problem(admin.client.get("/api/v1/tenants/a%00b/sessions"), 404, "not_found")


@pytest.mark.parametrize(
    ("data", "content_type", "status", "code"),
    [
        (b"{", "application/json", 400, "malformed_body"),
        (b"", "application/json", 422, "invalid_request"),
        (b"[]", "application/json", 422, "invalid_request"),
        (b'{"name":"\xff"}', "application/json", 400, "malformed_body"),
        (b'{"name":NaN}', "application/json", 400, "malformed_body"),
        (b'{"name":1e400}', "application/json", 400, "malformed_body"),
        (b'{"name":' + b"9" * 5000 + b"}", "application/json", 400, "malformed_body"),
        (b'{"name":' + b"[" * 65 + b"]" * 65 + b"}", "application/json", 400, "malformed_body"),
        (b'{"name":' + b"[" * 100_000, "application/json", 400, "malformed_body"),
        (b'{"name":"\\ud800"}', "application/json", 422, "invalid_request"),
        (b'{"name":"x"}', "application/json; charset=latin-1", 415, "unsupported_media_type"),
        (b"name=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(
    admin: Caller, data: bytes, content_type: str, status: int, code: str
) -> None:
    assert_problem(admin.post("/projects", data, content_type=content_type), status, code)


def test_a_body_over_the_limit_is_refused(admin: Caller, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 2_000
    details = assert_problem(admin.post("/projects", {"name": "x" * 3_000}), 413, "body_too_large")
    assert details == {"limitBytes": 2_000}


def test_unknown_addresses_and_methods_are_problems_too(admin: Caller) -> None:
    assert_problem(admin.get("/nowhere"), 404, "not_found")
    response = admin.client.delete(f"{admin.base}/projects")
    assert_problem(response, 405, "method_not_allowed")
    assert response["Allow"]


def test_an_api_answer_sets_no_cookie(admin: Caller) -> None:
    response = admin.get("/sessions")
    assert not response.cookies
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/sessions"] + [f"/sessions/{{ses}}/{part}" for part in ("drill", "tree", "children", "ancestry")]
)
def test_reads_take_the_same_number_of_queries_at_any_size(
    admin: Caller, path: str, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    admin.found("/sessions")  # the key is in the cache from here on
    counts = []
    for size in (10, 10_000):
        root = make_tree(Project.objects.get(public_id=admin.project()["id"]), size)
        with django_assert_max_num_queries(4) as queries:
            assert admin.found(path.format(ses=root))
        counts.append(len(queries))
    assert counts[0] == counts[1]
