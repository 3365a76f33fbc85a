"""A database to a file and back: whole, or not at all."""

import io
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from namzu_site.database import embedded
from namzu_site.database.backup import _pass_on
from sessions_app.access.actions import create_user
from sessions_app.access.rules import command
from sessions_app.hierarchy.actions import create_tenant
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.times import now_ms
from tests.namzu_site.transfer.kept import database_url

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.django_db(transaction=True)


def manage(url: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """Of the suite's database, with one tenant and one person."""
    create_tenant(name="Search team", public_id="tnt_search", by=command("test"), now=now_ms())
    create_user(username="ada", password="a long password", by=command("test"), now=now_ms())
    done = manage(database_url(), "backup", tmp_path / "console.backup")
    assert (done.returncode, done.stderr) == (0, "")
    return tmp_path / "console.backup"


@pytest.fixture
def target(data_dir: Path) -> Iterator[str]:
    """DATABASE_URL of a new installation."""
    with embedded.serve(data_dir) as url:
        yield url


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def test_what_was_backed_up_is_in_the_new_installation(backup: Path, target: str) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [path.name for path in backup.parent.iterdir() if path.name.startswith(".")] == []

    done = manage(target, "restore", backup)

    assert (done.returncode, done.stderr) == (0, "")
    assert ask(target, "SELECT public_id, name FROM sessions_app_tenant") == [("tnt_search", "Search team")]
    assert ask(target, "SELECT username FROM sessions_app_user") == [("ada",)]
    assert manage(target, "prepare").returncode == 0
    assert manage(target, "create_tenant", "Another").returncode == 0  # numbers go on after those that came in


def test_it_comes_into_a_prepared_installation_that_nobody_has_used(backup: Path, target: str) -> None:
    assert manage(target, "prepare").returncode == 0

    assert manage(target, "restore", backup).returncode == 0
    assert ask(target, "SELECT count(*) FROM sessions_app_tenant") == [(1,)]
    assert manage(target, "migrate", "--check").returncode == 0


def test_an_installation_that_is_in_use_is_left_alone(backup: Path) -> None:
    for emptied, kept in ((None, "tenants"), (Tenant, "users")):
        if emptied:
            emptied.objects.all().delete()
        done = manage(database_url(), "restore", backup)
        assert done.returncode == 1
        assert f"has {kept} already" in done.stderr


def test_a_backup_overwrites_nothing(backup: Path) -> None:
    before = backup.read_bytes()

    done = manage(database_url(), "backup", backup)

    assert done.returncode == 1
    assert f"{backup} is there already" in done.stderr
    assert backup.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = manage(database_url(), "backup", tmp_path / "nowhere" / "file")

    assert done.returncode == 1
    assert done.stderr == f"CommandError: {tmp_path}/nowhere/file cannot be written: No such file or directory.\n"


def test_a_backup_that_was_cut_off_changes_nothing(backup: Path, target: str) -> None:
    assert manage(target, "prepare").returncode == 0
    backup.write_bytes(backup.read_bytes()[:-2000])

    done = manage(target, "restore", backup)

    assert done.returncode == 1
    assert "Nothing was restored: " in done.stderr
    assert "Traceback" not in done.stderr
    assert manage(target, "migrate", "--check").returncode == 0


@pytest.mark.parametrize(
    ("content", "reason"), [(b"not a backup", "cannot be read as a backup"), (None, "does not exist")]
)
def test_what_is_no_backup_is_named(content: bytes | None, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)

    done = manage(database_url(), "restore", file)

    assert done.returncode == 1
    assert f"{file} {reason}" in done.stderr


def test_a_backup_of_another_product_is_refused(target: str, tmp_path: Path) -> None:
    with psycopg.connect(target) as connection:
        connection.execute("CREATE TABLE other (id int)")
    assert manage(target, "backup", tmp_path / "other").returncode == 0

    done = manage(target, "restore", tmp_path / "other")

    assert done.returncode == 1
    assert "is a backup of something else" in done.stderr
    assert ask(target, "SELECT count(*) FROM other") == [(0,)]


def test_a_setting_that_older_servers_do_not_know_is_left_out() -> None:
    script, passed = b"SET x = 1;\nSET transaction_timeout = 0;\nCREATE TABLE y ();\n", io.BytesIO()

    _pass_on(io.BytesIO(script), passed, leave_out=b"SET transaction_timeout")

    assert passed.getvalue() == b"SET x = 1;\nCREATE TABLE y ();\n"
