"""A database in one file and back, by the PostgreSQL programs that come with the product."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from psycopg.conninfo import make_conninfo

from namzu_site.database import programs

_HEADER_LINES = 100
_NEW_IN_17 = b"SET transaction_timeout"
# Not by who owned what: the roles of the server it goes to are its own.
_PLAIN = ("--no-owner", "--no-privileges")


class BackupError(Exception):
    """The database could not be written to a file, or read from it; nothing has changed."""


def write_backup(database: Mapping[str, str], file: Path) -> None:
    """The database, as it is at one moment, is in the file, which was not there before; raises BackupError, OSError."""
    if file.exists():
        raise BackupError(f"{file} is there already; a backup overwrites nothing.")
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # it holds all that is confidential
    try:
        done = _run("pg_dump", database, "--format=custom", *_PLAIN, f"--file={fresh}")
        if done.returncode:
            raise BackupError(f"The backup failed: {_reason(done.stderr)}")
        with fresh.open("rb") as stream:
            os.fsync(stream.fileno())
        os.link(fresh, file)  # where a rename would overwrite what came there meanwhile
    except FileExistsError:
        raise BackupError(f"{file} is there already; a backup overwrites nothing.") from None
    finally:
        fresh.unlink()


def check_backup(file: Path, table: str) -> None:
    """The file is a backup that holds that table; raises BackupError."""
    done = _run("pg_restore", None, "--list", str(file))
    if done.returncode:
        raise BackupError(f"{file} cannot be read as a backup: {_reason(done.stderr)}")
    if not any(line.split()[3:4] == ["TABLE"] and table in line.split() for line in done.stdout.splitlines()):
        raise BackupError(f"{file} is a backup of something else: it holds no table {table}.")


def read_backup(file: Path, database: Mapping[str, str], *, first: Iterable[str], server_version: int) -> None:
    """The file's tables are in the database, all or nothing; raises BackupError.

    `first` are statements of the same transaction that go before. It ends here, and not with pg_restore's own
    `--single-transaction`, because of them and of servers before 17, which do not know all settings it makes.
    """
    with tempfile.TemporaryFile() as said:
        reader = subprocess.Popen(
            [_program("pg_restore"), *_PLAIN, "--file=-", str(file)], stdout=subprocess.PIPE, stderr=said
        )
        writer = subprocess.Popen(
            [_program("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--dbname={_address(database)}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=_environment(database),
        )
        assert reader.stdout is not None  # noqa: S101 - asked for above
        assert writer.stdin is not None  # noqa: S101
        with contextlib.suppress(BrokenPipeError), reader.stdout, writer.stdin:  # psql has ended: it says why
            writer.stdin.write("".join(f"{line};\n" for line in ("BEGIN", *first)).encode())
            _pass_on(reader.stdout, writer.stdin, leave_out=_NEW_IN_17 if server_version < 170_000 else None)
            if reader.wait() == 0:
                writer.stdin.write(b"COMMIT;\n")  # without it the end of the input takes all back
        if reader.wait() | writer.wait():
            said.seek(0)
            raise BackupError(f"Nothing was restored: {_reason(said.read().decode(errors='replace'))}")


def _pass_on(script: IO[bytes], target: IO[bytes], *, leave_out: bytes | None) -> None:
    for _ in range(_HEADER_LINES):
        line = script.readline()
        if leave_out is None or not line.startswith(leave_out):
            target.write(line)
    shutil.copyfileobj(script, target, 1 << 20)


def _run(program: str, database: Mapping[str, str] | None, *arguments: str) -> "subprocess.CompletedProcess[str]":
    where = [f"--dbname={_address(database)}"] if database else []
    return subprocess.run(
        [_program(program), *where, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=_environment(database or {}),
        check=False,
    )


def _program(name: str) -> str:
    return str(programs.folder(programs.Account(os.geteuid(), os.getegid())) / name)


def _address(database: Mapping[str, str]) -> str:
    return make_conninfo(**{key: value for key, value in database.items() if key != "password"})


def _environment(database: Mapping[str, str]) -> dict[str, str]:
    """Where everybody on the machine can read the arguments, the password is none of them."""
    password = {"PGPASSWORD": database["password"]} if "password" in database else {}
    return {**os.environ, "LC_ALL": "C", **password}


def _reason(said: str) -> str:
    return said.strip() or "it was cut off"
