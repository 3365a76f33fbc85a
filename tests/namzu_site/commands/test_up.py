"""The real thing, started as a user starts it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import httpx
import pytest

from tests.servers import home_of

ROOT = Path(__file__).resolve().parents[3]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    """That of a user who has set nothing: the suite's own server is out of sight."""
    ours = ("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "IMPORT", "HOST", "PORT")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return kept | {"NAMZU_WEB_WORKERS": "1", "NAMZU_WEB_THREADS": "2"} | more


@dataclass
class Up:
    """A running `manage.py up`, and what it said."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(default_factory=list)
    _queue: "Queue[str | None]" = field(default_factory=Queue)

    def __post_init__(self) -> None:
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line)
        self._queue.put(None)

    def until_it_says(self, pattern: str, seconds: float = 60) -> "re.Match[str]":
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                line = None
            assert line is not None, f"never said {pattern!r}, but:\n{self.said}"
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found

    def until_it_ends(self, seconds: float = 60) -> int:
        code = self.process.wait(seconds)
        while (line := self._queue.get(timeout=10)) is not None:
            self.lines.append(line)
        return code

    @property
    def said(self) -> str:
        return "".join(self.lines)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=10)


@pytest.fixture
def up(data_dir: Path) -> Iterator[Callable[..., Up]]:
    running: list[Up] = []

    def start(*options: str, **more: str) -> Up:
        port = free_port()
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(port), *options],
            cwd=ROOT,
            env=environment(NAMZU_DATA_DIR=str(data_dir), **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append(Up(process, port))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGTERM)
            one.process.wait(60)


def children(pid: int) -> dict[int, str]:
    """Every living process below that one, with its command line."""
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
                waiting.append(child)
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.05)


def test_it_comes_up_is_ready_and_ends_without_a_trace(up: Callable[..., Up]) -> None:
    service = up("--ephemeral")
    service.until_it_says(rf"runs at http://127\.0\.0\.1:{service.port} ")
    service.until_it_says("password   .+")

    assert service.get("/healthz").json() == {"status": "ok"}
    until(lambda: service.get("/readyz").status_code == 200)

    below = children(service.process.pid)
    assert any("granian" in command for command in below.values())
    assert any("qcluster" in command for command in below.values())

    service.process.send_signal(signal.SIGINT)
    assert service.until_it_ends() == 0
    after_the_sign_in = service.said.partition("password   ")[2].split("\n", 1)[1]
    assert after_the_sign_in.split("\n")[-3:] == ["Stopping (Ctrl-C again kills) …", "Stopped.", ""]
    assert after_the_sign_in.strip().count("\n") == 1  # and nothing else
    assert [pid for pid in below if is_alive(pid)] == []


def test_a_child_that_dies_brings_the_rest_down_with_its_reason(up: Callable[..., Up]) -> None:
    service = up("--ephemeral")
    service.until_it_says("password")
    below = children(service.process.pid)
    worker = min(pid for pid, command in below.items() if "qcluster" in command)

    os.kill(worker, signal.SIGKILL)

    assert service.until_it_ends() == 1
    assert "worker ended (signal SIGKILL). Its last lines:" in service.said
    until(lambda: not any(is_alive(pid) for pid in below))


def test_a_database_that_dies_brings_the_rest_down_with_its_reason(up: Callable[..., Up], data_dir: Path) -> None:
    service = up()
    service.until_it_says("password")
    home = home_of(data_dir)
    assert home is not None
    note = home / "data" / "postmaster.pid"

    os.kill(int(note.read_text().split("\n")[0]), signal.SIGKILL)

    assert service.until_it_ends() == 1
    assert "ended by itself" in service.said


def test_children_end_with_a_killed_supervisor(up: Callable[..., Up]) -> None:
    service = up("--ephemeral")
    service.until_it_says("password")
    below = children(service.process.pid)

    service.process.kill()

    until(lambda: not any(is_alive(pid) for pid in below))


def test_the_first_sign_in_is_printed_once_and_the_data_stays(up: Callable[..., Up]) -> None:
    first = up()
    first.until_it_says("password   .+")
    first.process.send_signal(signal.SIGTERM)
    assert first.until_it_ends() == 0

    second = up()
    second.until_it_says("runs at")
    until(lambda: second.get("/readyz").status_code == 200)
    second.process.send_signal(signal.SIGTERM)
    assert second.until_it_ends() == 0
    assert "password" not in second.said


def test_a_folder_to_import_that_cannot_be_is_said_once_before_anything_starts(
    up: Callable[..., Up], data_dir: Path, tmp_path: Path
) -> None:
    service = up(IMPORT=str(tmp_path / "nowhere"))

    assert service.until_it_ends() == 1
    assert service.said == f"IMPORT: {tmp_path}/nowhere does not exist.\n"
    assert home_of(data_dir) is None


def test_an_import_that_leaves_something_out_says_so_once_and_the_service_goes_on(
    up: Callable[..., Up], tmp_path: Path
) -> None:
    (tmp_path / "state" / "projects" / "prj_odd").mkdir(parents=True)
    service = up("--ephemeral", IMPORT=str(tmp_path / "state"))

    service.until_it_says("The import of .*state left something out, see above; the service goes on")
    assert service.said.count("prj_odd") == 1
    assert service.get("/healthz").status_code == 200


def test_a_taken_port_is_said_before_anything_starts(up: Callable[..., Up], data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        service = up("--port", str(port))
        assert service.until_it_ends() == 1
    assert service.said.startswith(f"Port {port} on 127.0.0.1 is taken")
    assert home_of(data_dir) is None


def test_a_database_that_does_not_answer_is_named(up: Callable[..., Up]) -> None:
    service = up(DATABASE_URL="postgresql://nobody@127.0.0.1:1/namzu")

    assert service.until_it_ends() == 1
    assert service.said.count("Cannot connect to the database at 127.0.0.1:1/namzu") == 1
    assert "Traceback" not in service.said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NAMZU_ALLOWED_HOSTS", "http://x"),
        ("NAMZU_TRUSTED_ORIGINS", "console.example.org"),
        ("NAMZU_WEB_WORKERS", "0"),
        ("NAMZU_WEB_THREADS", "many"),
    ],
)
def test_a_setting_that_cannot_be_used_stops_the_start_and_is_named(
    name: str, value: str, up: Callable[..., Up], data_dir: Path
) -> None:
    service = up(**{name: value})

    assert service.until_it_ends() == 1
    assert service.said.startswith(f"{name}={value!r} is not usable: expected ")
    assert service.said.count("\n") == 1
    assert home_of(data_dir) is None


def test_the_printed_address_works_where_other_hosts_are_named(up: Callable[..., Up]) -> None:
    service = up("--ephemeral", NAMZU_ALLOWED_HOSTS="console.example")
    address = service.until_it_says(r"runs at (http://.+) \(").group(1)

    assert httpx.get(address, follow_redirects=True).status_code == 200
    assert httpx.get(address, headers={"Host": "other.example"}).status_code == 400


def test_behind_a_proxy_its_address_is_printed(up: Callable[..., Up]) -> None:
    service = up("--ephemeral", NAMZU_HTTPS="1", NAMZU_ALLOWED_HOSTS="console.example")

    service.until_it_says("Open the proxy's address: https://console.example")
    from_proxy = {"Host": "console.example", "X-Forwarded-Proto": "https"}
    assert httpx.get(f"http://127.0.0.1:{service.port}/healthz", headers=from_proxy).status_code == 200
