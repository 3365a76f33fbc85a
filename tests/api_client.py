"""A caller of the API in tests: one key, one tenant."""

import json
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.test import Client

from sessions_app.access.actions import create_api_key
from sessions_app.access.rules import Scope, command
from sessions_app.hierarchy.actions import create_tenant
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.times import now_ms
from tests.description import check_answer

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse

    Answer = _MonkeyPatchedWSGIResponse
else:
    Answer = HttpResponse

BY = command("tests")


class CheckedClient(Client):
    """A client that holds every answer of the API against its description."""

    def request(self, **request: Any) -> Answer:
        response = super().request(**request)
        check_answer(request["REQUEST_METHOD"], request["PATH_INFO"], response)
        return response


class Caller:
    """Calls paths below `/api/v1/tenants/<its tenant>` with a key of the scope."""

    def __init__(self, tenant: Tenant, scope: Scope = Scope.ADMIN, *, actor: dict[str, Any] | None = None) -> None:
        self.tenant = tenant
        self.base = f"/api/v1/tenants/{tenant.public_id}"
        self.key, self.token = create_api_key(
            tenant_id=tenant.pk, name="tests", scope=scope, actor=actor, by=BY, now=now_ms()
        )
        self.client = CheckedClient(headers={"authorization": f"Bearer {self.token}"})

    def get(self, path: str, **query: Any) -> Answer:
        return self.client.get(self.base + path, query)

    def post(self, path: str, body: Any, *, content_type: str = "application/json", **headers: str) -> Answer:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(self.base + path, data, content_type=content_type, headers=headers)

    def created(self, path: str, body: Any) -> dict[str, Any]:
        """The answer to a POST that must succeed."""
        response = self.post(path, body)
        assert response.status_code == 201, response.content
        return dict(response.json())

    def found(self, path: str, **query: Any) -> dict[str, Any]:
        """The answer to a GET that must succeed."""
        response = self.get(path, **query)
        assert response.status_code == 200, response.content
        return dict(response.json())

    def project(self, **fields: Any) -> dict[str, Any]:
        return self.created("/projects", {"name": "Checkout", **fields})

    def session(self, **fields: Any) -> dict[str, Any]:
        if "projectId" not in fields:
            fields["projectId"] = self.project()["id"]
        return self.created("/sessions", {"currentActor": None, **fields})

    def user(self, name: str = "usr_ada") -> dict[str, Any]:
        return {"kind": "user", "userId": name, "tenantId": self.tenant.public_id}


def new_tenant(name: str = "Acme") -> Tenant:
    return create_tenant(name=name, by=BY, now=now_ms())


def assert_problem(response: Answer, status: int, code: str) -> dict[str, Any]:
    """The problem's details, once status, code and media type are as expected."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert (problem["status"], problem["code"]) == (status, code), problem
    assert problem["detail"]
    return dict(problem["details"])
