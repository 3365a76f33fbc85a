"""Calls made up from the API's description: what fits is taken, what does not is refused, and answers are as it says.

They go to the WSGI application, with keys that may do everything. The same calls are made up each time.
"""

import copy
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import BaseSchema, Case, GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection

from namzu_site.wsgi import application
from sessions_app.access.actions import create_api_key
from sessions_app.access.rules import Scope
from sessions_app.hierarchy.actions import create_project, create_session, create_tenant, spawn_session
from sessions_app.wire.authentication import ApiKeyBearer
from sessions_app.wire.times import now_ms
from tests.api_client import BY
from tests.description import document

pytestmark = pytest.mark.django_db(transaction=True)

BOUNDED = settings(max_examples=30, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
TENANT, PROJECT, ROOT, LOOSE, EDGE = "tnt_world", "prj_world", "ses_root", "ses_loose", "sub_world"
KNOWN = {"prj_": [PROJECT], "ses_": [ROOT, LOOSE], "sub_": [EDGE], "wsp_": ["wsp_world"], "tnt_": [TENANT]}
ACTOR = {"kind": "user", "userId": "usr_world", "tenantId": TENANT}


def described() -> dict[str, Any]:
    """The description for the one tenant there is; cursors are opaque, and lines are tested elsewhere."""
    described = copy.deepcopy(document())
    described["paths"] = {
        path.replace("{tenant_id}", TENANT): operations for path, operations in described["paths"].items()
    }
    for operations in described["paths"].values():
        for operation in operations.values():
            operation["parameters"] = [
                parameter for parameter in operation["parameters"] if parameter["name"] not in ("tenant_id", "cursor")
            ]
            operation.get("requestBody", {}).get("content", {}).pop("application/x-ndjson", None)
    return described


def loaded(mode: GenerationMode, described: dict[str, Any]) -> BaseSchema:
    """What makes up calls from the description: fitting ones, or such that do not fit."""
    found = schemathesis.openapi.from_dict(described)
    found.app = application
    found.config.generation.update(modes=[mode], deterministic=True)
    accepted = found.config.checks.positive_data_acceptance
    accepted.expected_statuses = [*accepted.expected_statuses, "412"]  # If-Match may say anything
    return found


def narrowed() -> dict[str, Any]:
    """The description of what is certain to be taken: by ids of this world, in letters that everybody can see."""
    narrow = described()
    schemas = narrow["components"]["schemas"]
    for name, schema in schemas.items():
        if name.endswith(("In", "Put", "Patch")):
            schemas[name] = _narrow(schema)
    schemas["KnownActor"] = {"enum": [ACTOR, {"kind": "agent", "agentId": "agt_world", "tenantId": TENANT}]}
    for operations in narrow["paths"].values():
        for operation in operations.values():
            operation["parameters"] = [_narrow(parameter) for parameter in operation["parameters"]]
            if "requestBody" in operation:
                operation["requestBody"] = _narrow(operation["requestBody"])
    return narrow


def _narrow(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_narrow(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: _narrow(inner) for name, inner in schema.items() if name not in ("example", "examples")}
    if schema.get("$ref") == "#/components/schemas/Actor":
        return schema | {"$ref": "#/components/schemas/KnownActor"}
    pattern = schema.get("pattern", "")
    if pattern[1:5] in KNOWN:
        return {"enum": [*KNOWN[pattern[1:5]], f"{pattern[1:5]}none"]}
    if "\\s" in pattern:
        return schema | {"pattern": "^[ -~]*[!-~][ -~]*$"}
    if schema.get("name") == "Idempotency-Key":
        schema["schema"] = {"type": "string", "pattern": "^[!-~]{1,255}$"}
    return schema


def without_keys() -> dict[str, Any]:
    """The description for made up faults: a missing key would be one of them, were it not added to each call."""
    found = described()
    for operations in found["paths"].values():
        for operation in operations.values():
            del operation["security"]
    return found


negative = loaded(GenerationMode.NEGATIVE, without_keys())
positive = loaded(GenerationMode.POSITIVE, narrowed())
chained = loaded(GenerationMode.POSITIVE, narrowed())
# Each of these calls gets our key, whatever it came with; ids come from answers too, not only from this world.
chained.config.checks.ignored_auth.enabled = chained.config.checks.negative_data_rejection.enabled = False


@pytest.fixture
def keys(transactional_db: None) -> dict[str, str]:
    """Tokens of a key of the tenant and of one of the platform, in a small world."""
    ApiKeyBearer.forget_everything()
    now = now_ms()
    tenant = create_tenant(name="World", public_id=TENANT, by=BY, now=now)
    project = create_project(tenant=tenant, name="World", public_id=PROJECT, by=BY, now=now)
    root, _ = (
        create_session(project=project, current_actor=None, public_id=public_id, by=BY, now=now)
        for public_id in (ROOT, LOOSE)
    )
    spawn_session(
        parent=root, current_actor=ACTOR, kind="agent_spawn", spawned_by=ACTOR, public_id=EDGE, by=BY, now=now
    )
    return {
        name: create_api_key(tenant_id=owner, name=name, scope=Scope.ADMIN, by=BY, now=now)[1]
        for name, owner in (("tenant", tenant.pk), ("platform", None))
    }


def headers_for(case: Case[Any], keys: dict[str, str]) -> dict[str, str]:
    token = keys["platform" if case.path == "/api/v1/tenants" else "tenant"]
    return {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}


def call(case: Case[Any], keys: dict[str, str]) -> None:
    # To delete what cannot be there is no fault (api.md): such ids are answered with 204.
    excluded: list[Any] = [negative_data_rejection] if case.method == "DELETE" else []
    case.call_and_validate(headers=headers_for(case, keys), excluded_checks=excluded)


@positive.parametrize()
@BOUNDED
def test_what_fits_the_description_is_taken(case: Case[Any], keys: dict[str, str]) -> None:
    call(case, keys)


@negative.parametrize()
@BOUNDED
def test_what_does_not_fit_is_refused(case: Case[Any], keys: dict[str, str]) -> None:
    call(case, keys)


def test_calls_that_follow_from_each_other(keys: dict[str, str]) -> None:
    class Workflow(chained.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Case[Any]) -> dict[str, Any]:
            return {"headers": headers_for(case, keys)}

    run_state_machine_as_test(
        Workflow, settings=settings(BOUNDED, max_examples=15, stateful_step_count=8, phases=[Phase.generate])
    )
