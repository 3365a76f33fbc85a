"""A web server started by hand, without anything around it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Stands before Django on the import path: loading takes until somebody writes to the pipe.
_SLOW_DJANGO = """
import os
print("loading", flush=True)
open(os.environ["LEAVE"]).read()
"""


@contextmanager
def web_server(entry: str, interface: str, **environment: str) -> "Iterator[subprocess.Popen[str]]":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "granian", f"--interface={interface}", f"--port={port}", entry],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


ENTRIES = pytest.mark.parametrize(
    ("entry", "interface"), [("namzu_site.asgi:application", "asgi"), ("namzu_site.wsgi:application", "wsgi")]
)


@ENTRIES
def test_without_a_database_it_says_so_and_ends(entry: str, interface: str) -> None:
    with web_server(entry, interface) as process:
        said = process.communicate(timeout=60)[0]

    assert process.returncode == 1
    assert "DATABASE_URL is not set" in said
    assert "Traceback" not in said


@ENTRIES
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended_while_it_loads(entry: str, interface: str, number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "django").mkdir()
    (tmp_path / "django" / "__init__.py").write_text(_SLOW_DJANGO)
    os.mkfifo(tmp_path / "leave")
    slow = {"PYTHONPATH": str(tmp_path), "LEAVE": str(tmp_path / "leave")}
    with web_server(entry, interface, DATABASE_URL="postgresql:///never", **slow) as process:
        assert process.stdout is not None
        while "loading" not in (line := process.stdout.readline()):
            assert line
        process.send_signal(number)

        assert process.wait(30) == 0
