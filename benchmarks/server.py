"""What is measured: a durable PostgreSQL of its own, databases in it, and the product's server as `up` starts it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from namzu_site.database import programs
from namzu_site.database.cluster import Cluster

ROOT = Path(__file__).resolve().parent.parent
_START_SECONDS = 60


@contextmanager
def durable_server() -> Iterator[str]:
    """DATABASE_URL of an embedded server that keeps its promises (fsync, synchronous_commit); gone afterwards."""
    account = programs.account()
    with tempfile.TemporaryDirectory(prefix="namzu-benchmark-") as folder:
        home = Path(folder) / "home"
        home.mkdir(mode=0o700)
        for path in (Path(folder), home):
            account.give(path)
        cluster = Cluster(home, account, programs.folder(account))
        cluster.start()
        try:
            yield cluster.url
        finally:
            cluster.remove()


@dataclass(frozen=True, slots=True)
class Bench:
    """A server with a migrated database to copy, in which there are a tenant and a key that may do everything."""

    server_url: str
    template: str
    api_key: str


@contextmanager
def bench(server_url: str, tenant: str) -> Iterator[Bench]:
    """The server, made ready; its template is dropped afterwards."""
    name = f"namzu_benchmark_{os.getpid()}"
    with _database(server_url, name) as url:
        manage(url, "migrate", "--verbosity=0")
        manage(url, "create_tenant", "Benchmark", "--id", tenant)
        yield Bench(server_url, name, manage(url, "create_api_key", tenant, "--name", "benchmark", "--scope", "admin"))


@contextmanager
def database(bench: Bench, name: str) -> Iterator[str]:
    """URL of a copy of the template; dropped afterwards."""
    with _database(bench.server_url, f"{bench.template}_{name}", bench.template) as url:
        yield url


@contextmanager
def _database(server_url: str, name: str, template: str = "template1") -> Iterator[str]:
    new, old = sql.Identifier(name), sql.Identifier(template)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(new, old))
    try:
        yield _as_url(conninfo_to_dict(server_url) | {"dbname": name})
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(new))


def is_durable(url: str) -> bool:
    """Whether a commit on this server outlives a power cut."""
    with psycopg.connect(url) as connection:
        shown = [connection.execute(f"SHOW {name}").fetchone() for name in ("fsync", "synchronous_commit")]
    return shown == [("on",), ("on",)]


def manage(url: str, *arguments: str) -> str:
    """The last line that `manage.py` printed."""
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    done = subprocess.run(command, env=environment(url), cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True)
    return done.stdout.strip().rpartition("\n")[2]


def environment(url: str) -> dict[str, str]:
    """The environment of a process that works on this database."""
    return os.environ | {"DATABASE_URL": url}


@contextmanager
def web(url: str) -> Iterator[int]:
    """The port where the product answers, started by `manage.py up`, worker included."""
    port = _free_port()
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--host", "127.0.0.1", "--port", str(port)]
    with tempfile.TemporaryFile("w+") as said:
        up = subprocess.Popen(command, env=environment(url), cwd=ROOT, stdout=said, stderr=said)
        try:
            if not _answers(port, up):
                said.seek(0)
                raise SystemExit(f"The server did not start:\n{said.read()}")
            yield port
        finally:
            up.send_signal(signal.SIGTERM)
            up.wait(_START_SECONDS)


def _answers(port: int, up: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and up.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return True
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _as_url(parameters: Mapping[str, object]) -> str:
    """A URL with all parameters in its query: settings take URLs only."""
    given = {name: str(value) for name, value in parameters.items() if value is not None}
    name = given.pop("dbname")
    return f"postgresql:///{name}?{urlencode(given)}"
