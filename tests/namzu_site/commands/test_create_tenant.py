from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from sessions_app.access.models import AuditEntry
from sessions_app.hierarchy.models import Tenant

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("create_tenant", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_the_id_stands_alone_on_the_last_line() -> None:
    printed = run("Search team")[-1]
    assert Tenant.objects.get(name="Search team").public_id == printed
    assert printed.startswith("tnt_")


def test_the_id_can_be_given_and_is_audited() -> None:
    assert run("Search team", "--id", "tnt_search")[-1] == "tnt_search"
    entry = AuditEntry.objects.get(action="tenant.created")
    assert (entry.principal, entry.target) == ("command:create_tenant", "tnt_search")


@pytest.mark.parametrize("bad", ["search", "prj_search", "tnt_", "tnt_a b", "tnt_" + "x" * 61])
def test_a_bad_id_is_named(bad: str) -> None:
    with pytest.raises(CommandError, match=f"--id {bad}: "):
        run("Search team", "--id", bad)


def test_a_taken_id_is_named() -> None:
    run("Search team", "--id", "tnt_search")
    with pytest.raises(CommandError, match="tnt_search is in use"):
        run("Another team", "--id", "tnt_search")
    assert Tenant.objects.count() == 1


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 201])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(CommandError, match="name needs"):
        run(name)
