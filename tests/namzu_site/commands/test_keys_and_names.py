from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from sessions_app.access.actions import create_api_key, create_first_admin, revoke_api_key
from sessions_app.access.models import ApiKey, AuditEntry, User
from sessions_app.access.rules import Scope, command
from sessions_app.hierarchy.actions import create_tenant
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.times import now_ms

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant(name="Search team", public_id="tnt_search", by=command("test"), now=now_ms())


def make_key(tenant: Tenant | None, name: str) -> tuple[ApiKey, str]:
    actor = {"kind": "agent", "agentId": "agt_planner", "tenantId": tenant.public_id} if tenant else None
    tenant_id = tenant.pk if tenant else None
    return create_api_key(
        tenant_id=tenant_id, name=name, scope=Scope.RUNNER, actor=actor, by=command("test"), now=now_ms()
    )


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().splitlines()


def test_keys_are_listed_by_what_they_open(tenant: Tenant) -> None:
    ours, platform = make_key(tenant, "runner 1")[0], make_key(None, "ops")[0]

    head, line = run("list_api_keys", "tnt_search")
    assert " ".join(head.split()) == "key id opens name scope actor created last used expires revoked"
    assert line.split()[:6] == [ours.key_id, "tnt_search", "runner", "1", "runner", "agt_planner"]
    assert line.split()[-3:] == ["-", "-", "-"]
    assert [line.split()[0] for line in run("list_api_keys", "--platform")[1:]] == [platform.key_id]
    assert [line.split()[0] for line in run("list_api_keys")[1:]] == [platform.key_id, ours.key_id]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["list_api_keys", "tnt_nowhere"], "no tenant tnt_nowhere"),
        (["list_api_keys", "tnt_search", "--platform"], "either a tenant or --platform"),
        (["revoke_api_key", "nmz_nothing"], "no API key nothing"),
        (["rename_tenant", "tnt_nowhere", "Name"], "no tenant tnt_nowhere"),
        (["rename_tenant", "tnt_search", " "], "The name needs 1 to 200"),
    ],
)
@pytest.mark.usefixtures("tenant")
def test_what_does_not_fit_is_named(arguments: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run(*arguments)


@pytest.mark.parametrize("form", ["{id}", "nmz_{id}", "nmz_{id}_secret"])
def test_a_revoked_key_opens_nothing(tenant: Tenant, form: str) -> None:
    key, text = make_key(tenant, "runner 1")

    said = run("revoke_api_key", form.format(id=key.key_id))

    assert said[0].startswith(f"{key.key_id} (runner 1) is revoked since ")
    caller = Client(headers={"authorization": f"Bearer {text}"})
    assert caller.get("/api/v1/tenants/tnt_search/projects").status_code == 401
    assert run("list_api_keys", "tnt_search")[1].endswith(f"{now_ms():%Y-%m-%d} " + said[0].split()[-2])
    entry = AuditEntry.objects.get(action="api_key.revoked")
    assert (entry.tenant, entry.principal, entry.target) == (tenant, "command:revoke_api_key", key.key_id)


def test_a_key_is_revoked_once(tenant: Tenant) -> None:
    key = revoke_api_key(key=make_key(tenant, "runner 1")[0], by=command("test"), now=now_ms())

    run("revoke_api_key", key.key_id)

    assert ApiKey.objects.get().revoked_at == key.revoked_at
    assert AuditEntry.objects.filter(action="api_key.revoked").count() == 1


def test_a_tenant_gets_another_name(tenant: Tenant) -> None:
    assert run("rename_tenant", "tnt_search", " Find team ") == ["tnt_search is Find team."]
    run("rename_tenant", "tnt_search", "Find team")

    tenant.refresh_from_db()
    assert tenant.name == "Find team"
    entry = AuditEntry.objects.get(action="tenant.renamed")
    assert (entry.before, entry.after) == ({"name": "Search team"}, {"name": "Find team"})


def test_a_lost_password_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    create_first_admin(now=now_ms())
    monkeypatch.setattr("getpass.getpass", lambda prompt: "a new and long one")

    run("changepassword", "admin")

    assert User.objects.get(username="admin").check_password("a new and long one")
