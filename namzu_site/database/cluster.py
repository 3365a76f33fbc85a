"""One PostgreSQL server and its files: made, started, recovered, stopped."""

import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString
from urllib.parse import quote

import psycopg

from namzu_site.database import errors, programs

NAME = "namzu"

_START_SECONDS = 300  # a crash recovery replays up to `max_wal_size`; on a slow disk that takes minutes
_ORPHAN_SECONDS = 30
_SOCKET_LIMIT = 103  # bytes of a socket's path: 107 on Linux, 103 on macOS
_SOCKET_FILE = ".s.PGSQL.5432"
_MAKE: tuple[tuple[LiteralString, LiteralString], ...] = (
    ("SELECT 1 FROM pg_roles WHERE rolname = %s", "CREATE ROLE namzu LOGIN CREATEDB"),
    ("SELECT 1 FROM pg_database WHERE datname = %s", "CREATE DATABASE namzu OWNER namzu"),
)
_LOG_LIMIT_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True)
class Cluster:
    """A server's home folder: `data`, `socket`, `server.log`. Callers take turns; nothing here locks.

    The home is passable for the server's account alone, and only through its socket is the server reached: whoever gets
    that far is trusted. The product's role is no superuser.
    """

    home: Path
    account: programs.Account
    programs: Path
    settings: tuple[str, ...] = ()

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    @property
    def socket(self) -> Path:
        """Folder of the socket: in the home, or a private one under /tmp where that path is too long for a socket."""
        inside = self.home / "socket"
        if len(os.fsencode(inside / _SOCKET_FILE)) <= _SOCKET_LIMIT:
            return inside
        return Path("/tmp") / f"namzu-{hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]}"  # noqa: S108

    @property
    def url(self) -> str:
        return self._url(NAME, NAME)

    def _url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.socket), safe='')}&port=5432"

    def start(self) -> None:
        """The server answers and has the product's database; raises DatabaseUnavailable."""
        try:
            make_private(self.home, self.account)
            make_private(self.socket, self.account)
            if not self.data.exists():
                self._initialise()
            self._check_version()
            if not self.is_running():
                self._start_server()
        except OSError as error:
            raise errors.from_os_error(self.home, error) from error
        self._wait_until_it_answers()
        self._make_database()

    def stop(self, mode: str = "fast") -> None:
        """The server has ended; raises ServerDidNotStop."""
        if self.is_running():
            done = self._control("stop", "-m", mode)
            if done.returncode and self.is_running():
                raise errors.ServerDidNotStop(self.home, done.stdout)
        if self.socket.parent != self.home and self.socket.exists():
            shutil.rmtree(self.socket)

    def remove(self) -> None:
        """Server and files are gone."""
        self.stop("immediate")
        shutil.rmtree(self.home)

    def is_running(self) -> bool:
        """Whether the process that the server noted down is alive and is the server of these files."""
        pid = self._noted_pid()
        return pid is not None and _serves(pid, self.data)

    def _noted_pid(self) -> int | None:
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None

    def _initialise(self) -> None:
        fresh = self.home / "data.new"  # moved into place when whole: an interrupted start leaves no half cluster
        if fresh.exists():
            shutil.rmtree(fresh)
        options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions"]
        if "fsync=off" in self.settings:
            options.append("--no-sync")
        done = self.account.run([str(self.programs / "initdb"), f"--pgdata={fresh}", *options])
        if done.returncode:
            shutil.rmtree(fresh, ignore_errors=True)
            raise errors.from_log(self.home, done.stdout)
        fresh.rename(self.data)
        _sync_folder(self.home)

    def _check_version(self) -> None:
        try:
            found = (self.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            raise errors.FolderUnusable(self.data, "it holds something that is no PostgreSQL database") from None
        except NotADirectoryError:
            raise errors.FolderUnusable(self.data, "a file is in its place") from None
        if found != str(programs.MAJOR_VERSION):
            needed = f"version {programs.MAJOR_VERSION} is used here; move the data over with pg_dump and psql"
            raise errors.FolderUnusable(self.data, f"it belongs to PostgreSQL {found}, and {needed}")

    def _start_server(self) -> None:
        self._clear_stale_notes()
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        begin = self.log.stat().st_size if self.log.exists() else 0
        deadline = time.monotonic() + _ORPHAN_SECONDS
        while (done := self._control("start", "-l", str(self.log), "-o", self._options())).returncode:
            said = done.stdout + _read_from(self.log, begin)
            # After a kill -9 of the server its helpers need a moment to notice; until then it must not start.
            if "pre-existing shared memory block" not in said or time.monotonic() > deadline:
                raise errors.from_log(self.home, said)
            begin = self.log.stat().st_size
            time.sleep(0.1)

    def _options(self) -> str:
        settings = (
            "listen_addresses=",
            f'unix_socket_directories="{self.socket}"',
            "unix_socket_permissions=0700",
            "port=5432",
            "timezone=UTC",
            "log_timezone=UTC",
            *self.settings,
        )
        return " ".join(f"-c {shlex.quote(setting)}" for setting in settings)

    def _control(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        control = str(self.programs / "pg_ctl")
        return self.account.run([control, "-D", str(self.data), "-t", str(_START_SECONDS), "-w", *arguments])

    def _clear_stale_notes(self) -> None:
        """What a killed server noted down no longer keeps the next one from starting.

        Its pid may be another process's by now (usual after a container's restart) or a zombie's. In the data folder
        only the pid is replaced, by one that PostgreSQL knows to be none of its own (its starter's): the rest of that
        note lets it check that no helper of the dead server is left.
        """
        note = self.data / "postmaster.pid"
        if self._noted_pid() is not None:
            rest = note.read_text().partition("\n")[2]
            note.write_text(f"{os.getpid()}\n{rest}")
        else:
            note.unlink(missing_ok=True)  # empty, from a start that was cut off or had no room on the disk
        for name in (_SOCKET_FILE, f"{_SOCKET_FILE}.lock"):
            (self.socket / name).unlink(missing_ok=True)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                with self._connect():
                    return
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline or not self.is_running():
                    raise errors.CannotConnect(str(self.socket), str(error)) from error
            time.sleep(0.05)

    def _make_database(self) -> None:
        try:
            with self._connect() as connection:
                for look, make in _MAKE:
                    if connection.execute(look, (NAME,)).fetchone() is None:
                        connection.execute(make)
        except psycopg.Error as error:
            raise errors.from_log(self.home, str(error)) from error

    @contextmanager
    def _connect(self) -> Iterator[psycopg.Connection]:
        with psycopg.connect(self._url("postgres", "postgres"), autocommit=True, connect_timeout=30) as connection:
            yield connection


def is_alive_behind(socket: Path) -> bool:
    """Whether the server that made the socket in that folder still runs."""
    try:
        pid, data, *_ = (socket / f"{_SOCKET_FILE}.lock").read_text().split("\n")
    except FileNotFoundError:
        return False
    return _serves(int(pid), Path(data))


def make_private(folder: Path, account: programs.Account) -> None:
    """The folder exists and the account alone may enter it; raises FolderUnusable where it is another's."""
    try:
        folder.mkdir(mode=0o700, parents=True)
        account.give(folder)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise errors.FolderUnusable(folder, "a file is in its place") from None
        if found.st_uid != account.uid:
            raise errors.FolderUnusable(folder, f"it belongs to another user (uid {found.st_uid})") from None
        folder.chmod(0o700)


def _serves(pid: int, data: Path) -> bool:
    try:
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except ProcessLookupError:
        return False
    except (FileNotFoundError, PermissionError):
        return not Path("/proc/self").exists()  # a system without /proc: the pid alone must do
    return os.fsencode(data) in command


def _read_from(file: Path, begin: int) -> str:
    if not file.exists():
        return ""
    with file.open("rb") as stream:
        stream.seek(begin)
        return stream.read().decode(errors="replace")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
