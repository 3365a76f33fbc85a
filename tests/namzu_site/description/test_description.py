"""The API's description says what is so; that answers are as it says is checked with every call of the tests."""

from typing import Any

import pytest
from django.test import Client

from namzu_site import api_docs
from namzu_site.http_errors import STATUS
from namzu_site.problem_examples import EXAMPLES, example_of
from sessions_app.hierarchy.errors import AlreadyLinked
from sessions_app.wire.errors import DomainError
from tests.description import check, document, operations

# Edges to what has a parent are only made by an import; over HTTP that is `child_has_history` before.
NOT_OVER_HTTP = {AlreadyLinked}


def contents(operation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """What can be sent and answered, by media type."""
    bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
    return [item for body in bodies for item in body.get("content", {}).items()]


def codes(operation: dict[str, Any]) -> set[str]:
    return {
        code
        for answer in operation["responses"].values()
        for code in answer.get("content", {}).get("application/problem+json", {}).get("examples", {})
    }


def by_name(name: str) -> dict[str, Any]:
    return next(operation for operation in operations() if operation["operationId"] == name)


def test_the_document_is_served_without_a_key() -> None:
    assert Client().get("/api/v1/openapi.json").json() == document()


def test_the_written_description_is_as_the_document() -> None:
    assert api_docs.PATH.read_text() == api_docs.written(), "stale: run manage.py write_api_docs"


def test_every_operation_says_what_it_needs_and_how_it_can_fail() -> None:
    assert len({operation["operationId"] for operation in operations()}) == len(operations()) >= 18
    for operation in operations():
        assert operation["security"] == [{"ApiKeyBearer": []}]
        assert operation["x-scope"] in ("read", "runner", "operator", "admin", "platform")
        assert f"Scope: `{operation['x-scope']}`" in operation["description"]
        assert {"401", "503"} <= operation["responses"].keys()
        assert operation["tags"]
    assert {"insufficient_scope", "idempotency_mismatch", "malformed_body"} <= codes(by_name("create_session"))
    assert "insufficient_scope" not in codes(by_name("list_sessions"))
    assert "precondition_failed" in codes(by_name("delete_session"))


def test_every_failure_is_announced_somewhere() -> None:
    announced = {code for operation in operations() for code in codes(operation)}
    assert {failure.code for failure in STATUS.keys() - NOT_OVER_HTTP} == announced


@pytest.mark.parametrize("failure", STATUS, ids=lambda failure: failure.code)
def test_every_failure_has_an_example(failure: type[DomainError]) -> None:
    assert example_of(failure)["code"] == failure.code
    assert len(EXAMPLES) == len(STATUS)


def test_every_body_has_an_example_that_is_as_described() -> None:
    for operation in operations():
        for kind, content in contents(operation):
            found = [content["example"]] if "example" in content else [e["value"] for e in content["examples"].values()]
            assert found, operation["operationId"]
            for example in found:
                check(example, content["schema"])
            assert kind in ("application/json", "application/x-ndjson", "application/problem+json")


def test_headers_are_described_where_they_count() -> None:
    names = {
        operation["operationId"]: {p["name"] for p in operation["parameters"] if p["in"] == "header"}
        for operation in operations()
    }
    assert names["create_session"] == names["append_messages"] == {"Idempotency-Key"}
    assert names["replace_session"] == names["change_project"] == names["delete_sub_session"] == {"If-Match"}
    assert names["list_messages"] == names["read_session"] == {"If-None-Match"}
    assert "304" in by_name("list_messages")["responses"]


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("SubSessionIn", {"child": {"currentActor": None}}, True),
        ("SubSessionIn", {"childSessionId": "ses_x"}, True),
        ("SubSessionIn", {"childSessionId": "ses_x", "child": None}, True),
        ("SubSessionIn", {}, False),
        ("SubSessionIn", {"childSessionId": "ses_x", "child": {"currentActor": None}}, False),
        ("SubSessionIn", {"childSessionId": "prj_x"}, False),
        ("SubSessionIn", {"childSessionId": f"ses_{'x' * 61}"}, False),
    ],
)
def test_what_excludes_each_other_is_described_so(name: str, value: dict[str, Any], fits: bool) -> None:
    actor = {"kind": "user", "userId": "usr_x", "tenantId": "tnt_x"}
    record = {"parentSessionId": "ses_x", "kind": "agent_spawn", "spawnedBy": actor, **value}
    schema = {"$ref": f"#/components/schemas/{name}"}
    if fits:
        check(record, schema)
    else:
        with pytest.raises(ValueError):
            check(record, schema)
