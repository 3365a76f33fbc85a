import os
import subprocess
import sys
from pathlib import Path

from tests.servers import home_of

ROOT = Path(__file__).resolve().parents[3]


def manage(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=kept | more,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_command_without_database_starts_none(data_dir: Path) -> None:
    done = manage("version", NAMZU_DATA_DIR=str(data_dir))

    assert done.returncode == 0
    assert home_of(data_dir) is None


def test_a_command_with_database_finds_one(data_dir: Path) -> None:
    done = manage(
        "shell", "--no-imports", "-c",
        "from django.db import connection as c; c.ensure_connection(); print(c.connection.info.server_version)",
        NAMZU_DATA_DIR=str(data_dir),
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 180_000


def test_a_folder_that_cannot_be_used_is_named_without_a_traceback(data_dir: Path) -> None:
    data_dir.write_text("a file")

    done = manage("migrate", NAMZU_DATA_DIR=str(data_dir))

    assert done.returncode == 1
    assert str(data_dir) in done.stderr
    assert "Traceback" not in done.stderr
