from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from sessions_app.access.models import Membership, User
from sessions_app.access.rules import command
from sessions_app.hierarchy.actions import create_tenant
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.times import now_ms

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def tenant() -> Tenant:
    return create_tenant(name="Search team", public_id="tnt_search", by=command("test"), now=now_ms())


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("create_user", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_the_password_made_here_stands_alone_on_the_last_line(tenant: Tenant) -> None:
    password = run("oncall", "--tenant", "tnt_search", "--role", "operator")[-1]
    user = User.objects.get(username="oncall")
    assert user.check_password(password)
    assert not user.is_platform_admin
    assert Membership.objects.get(user=user, tenant=tenant).role == "operator"


def test_a_platform_administrator_needs_no_tenant() -> None:
    run("root", "--platform-admin")
    user = User.objects.get(username="root")
    assert user.is_platform_admin
    assert not user.memberships.exists()


def test_a_password_from_standard_input_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("correct horse battery\n"))
    printed = run("oncall", "--platform-admin", "--password-stdin")
    assert printed == ["oncall may sign in."]
    assert User.objects.get().check_password("correct horse battery")


@pytest.mark.parametrize("weak", ["", "short", "password123"])
def test_a_weak_password_is_refused(monkeypatch: pytest.MonkeyPatch, weak: str) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(f"{weak}\n"))
    with pytest.raises(CommandError, match="password is not usable"):
        run("oncall", "--platform-admin", "--password-stdin")
    assert not User.objects.exists()


def test_a_taken_name_is_named_in_any_case() -> None:
    run("oncall", "--platform-admin")
    with pytest.raises(CommandError, match="OnCall is in use"):
        run("OnCall", "--platform-admin")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["oncall"], "--tenant and --role, or --platform-admin"),
        (["oncall", "--tenant", "tnt_search"], "--tenant and --role"),
        (["oncall", "--role", "viewer"], "--tenant and --role"),
        (["oncall", "--platform-admin", "--role", "viewer"], "goes without"),
        (["oncall", "--tenant", "tnt_nowhere", "--role", "viewer"], "no tenant tnt_nowhere"),
        (["oncall", "--tenant", "tnt_search", "--role", "owner"], "owner"),
        ([" oncall", "--platform-admin"], "user name needs"),
        (["", "--platform-admin"], "user name needs"),
    ],
)
def test_what_does_not_fit_is_named(arguments: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run(*arguments)
    assert not User.objects.exists()
