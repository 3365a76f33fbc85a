import hashlib
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from sessions_app.access.models import ApiKey, AuditEntry
from sessions_app.access.rules import command
from sessions_app.hierarchy.actions import create_tenant
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.times import now_ms

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant(name="Search team", public_id="tnt_search", by=command("test"), now=now_ms())


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("create_api_key", *arguments, stdout=out)
    return out.getvalue().splitlines()[-1]


def test_the_key_stands_alone_on_the_last_line_and_opens_the_tenant(tenant: Tenant) -> None:
    prefix, key_id, secret = run("tnt_search", "--name", "ci").split("_")
    key = ApiKey.objects.get(key_id=key_id)
    assert prefix == "nmz"
    assert bytes(key.secret_sha256) == hashlib.sha256(secret.encode()).digest()
    assert (key.tenant, key.name, key.scope, key.actor, key.expires_at) == (tenant, "ci", "runner", None, None)
    assert AuditEntry.objects.get(action="api_key.created").principal == "command:create_api_key"


def test_scope_expiry_and_actor_are_kept(tenant: Tenant) -> None:
    key_id = run(
        "tnt_search", "--name", "ops", "--scope", "operator", "--expires-in-days", "30", "--actor", "agt_planner"
    ).split("_")[1]
    key = ApiKey.objects.get(key_id=key_id)
    assert key.scope == "operator"
    assert key.expires_at == key.created_at + timedelta(days=30)
    assert key.actor == {"kind": "agent", "agentId": "agt_planner", "tenantId": tenant.public_id}


def test_a_platform_key_has_no_tenant() -> None:
    key_id = run("--platform", "--name", "ops", "--scope", "admin").split("_")[1]
    assert ApiKey.objects.get(key_id=key_id).tenant is None


def test_an_unknown_tenant_is_named() -> None:
    with pytest.raises(CommandError, match="no tenant tnt_nowhere"):
        run("tnt_nowhere", "--name", "ci")


@pytest.mark.usefixtures("tenant")
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--name", "ci"], "either a tenant or --platform"),
        (["tnt_search", "--platform", "--name", "ci"], "either a tenant or --platform"),
        (["tnt_search", "--name", " "], "--name needs"),
        (["tnt_search"], "--name"),
        (["tnt_search", "--name", "ci", "--scope", "root"], "root"),
        (["tnt_search", "--name", "ci", "--expires-in-days", "0"], "--expires-in-days 0"),
        (["tnt_search", "--name", "ci", "--expires-in-days", "99999999999"], "--expires-in-days 99999999999"),
        (["tnt_search", "--name", "ci", "--actor", "planner"], "--actor planner"),
        (["tnt_search", "--name", "ci", "--actor", "agt_"], "--actor agt_"),
        (["--platform", "--name", "ci", "--actor", "usr_oncall"], "--actor goes with a tenant"),
    ],
)
def test_what_does_not_fit_is_named(arguments: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run(*arguments)
    assert not ApiKey.objects.exists()
