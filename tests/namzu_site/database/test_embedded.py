import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from namzu_site.database import embedded, programs
from namzu_site.database.cluster import Cluster
from namzu_site.database.errors import DatabaseUnavailable, DiskFull, FolderUnusable
from tests import servers

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def homes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the servers of this test have their files when root runs it: pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory(prefix="namzu-homes-") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setattr(programs, "ROOT_HOME", Path(folder) / "homes")
        yield programs.ROOT_HOME


@pytest.fixture
def data_dir(tmp_path: Path, homes: Path) -> Path:
    return tmp_path / "data"


def home_of(data_dir: Path, homes: Path) -> Path:
    home = servers.home_of(data_dir)
    assert home is not None
    return home


def postmaster(data_dir: Path, homes: Path) -> int:
    return int((home_of(data_dir, homes) / "data" / "postmaster.pid").read_text().split("\n")[0])


def ask(url: str, query: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return str(row[0])


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_was_written_is_there_the_next_time(data_dir: Path, homes: Path) -> None:
    with embedded.serve(data_dir) as url, psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'é' AS word")
    with embedded.serve(data_dir) as url:
        assert ask(url, "SELECT word FROM kept") == "é"


def test_an_acknowledged_write_is_on_the_disk(data_dir: Path, homes: Path) -> None:
    with embedded.serve(data_dir) as url:
        assert ask(url, "SHOW fsync") == "on"
        assert ask(url, "SHOW synchronous_commit") == "on"
        assert ask(url, "SHOW listen_addresses") == ""
        assert ask(url, "SELECT usesuper FROM pg_user WHERE usename = current_user") == "False"


def test_the_last_of_two_users_stops_the_server(data_dir: Path, homes: Path) -> None:
    with ExitStack() as first, ExitStack() as second:
        url = first.enter_context(embedded.serve(data_dir))
        pid = postmaster(data_dir, homes)
        assert second.enter_context(embedded.serve(data_dir)) == url
        assert postmaster(data_dir, homes) == pid

        first.close()
        assert ask(url, "SELECT 1") == "1"
        second.close()
        until(lambda: not is_alive(pid))


def _serve_and_tell(data_dir: Path, told: "multiprocessing.queues.Queue[str]") -> None:
    with embedded.serve(data_dir) as url:
        told.put(ask(url, "SELECT system_identifier FROM pg_control_system()"))
        told.put("kept")


def test_two_first_starts_at_once_share_one_cluster(data_dir: Path, homes: Path) -> None:
    context = multiprocessing.get_context("fork")
    told: multiprocessing.queues.Queue[str] = context.Queue()
    both = [context.Process(target=_serve_and_tell, args=(data_dir, told)) for _ in range(2)]
    for process in both:
        process.start()
    answers = [told.get(timeout=60) for _ in range(4)]
    for process in both:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert len(set(answers)) == 2, answers


def test_after_a_kill_of_the_server_it_recovers(data_dir: Path, homes: Path) -> None:
    with embedded.serve(data_dir) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        os.kill(postmaster(data_dir, homes), signal.SIGKILL)
        with embedded.serve(data_dir) as again:
            assert ask(again, "SELECT number FROM kept") == "7"


def test_a_noted_pid_that_another_process_has_by_now_does_not_keep_it_from_starting(
    data_dir: Path, homes: Path
) -> None:
    with embedded.serve(data_dir):
        pid = postmaster(data_dir, homes)
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_alive(pid))
    note = home_of(data_dir, homes) / "data" / "postmaster.pid"
    note.write_text(note.read_text().replace(str(pid), str(os.getppid()), 1))

    with embedded.serve(data_dir) as url:
        assert ask(url, "SELECT 1") == "1"


def test_after_a_kill_of_its_user_the_next_one_takes_the_server_over(data_dir: Path, homes: Path) -> None:
    code = (
        "import sys, pathlib, signal\n"
        "from namzu_site.database import embedded, programs\n"
        "programs.ROOT_HOME = pathlib.Path(sys.argv[1])\n"
        "with embedded.serve(pathlib.Path(sys.argv[2])) as url:\n"
        "    print(url, flush=True); signal.pause()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(homes), str(data_dir)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as user:
        assert user.stdout is not None
        assert user.stdout.readline().startswith("postgresql://")
        user.kill()
    pid = postmaster(data_dir, homes)
    assert is_alive(pid)

    with embedded.serve(data_dir) as url:
        assert ask(url, "SELECT 1") == "1"
        assert postmaster(data_dir, homes) == pid
    until(lambda: not is_alive(pid))  # its note is gone a moment before it is


def test_an_interrupted_first_start_is_done_again(data_dir: Path, homes: Path) -> None:
    with embedded.serve(data_dir):
        home = home_of(data_dir, homes)
    (home / "data").rename(home / "data.new")  # as if the machine had gone down before the last step
    (home / "data.new" / "PG_VERSION").unlink()

    with embedded.serve(data_dir) as url:
        assert ask(url, "SELECT 1") == "1"


def test_a_cluster_of_another_major_version_is_left_alone(data_dir: Path, homes: Path) -> None:
    with embedded.serve(data_dir):
        home = home_of(data_dir, homes)
    (home / "data" / "PG_VERSION").write_text("16\n")

    with pytest.raises(FolderUnusable, match="belongs to PostgreSQL 16") as caught, embedded.serve(data_dir):
        pass
    assert str(home) in str(caught.value)


def test_a_file_in_the_folders_place_is_named(data_dir: Path, homes: Path) -> None:
    if os.geteuid() == 0:
        homes.write_text("")
        named = homes
    else:
        data_dir.mkdir()
        named = data_dir / "postgres"
        named.write_text("")

    with pytest.raises(FolderUnusable) as caught, embedded.serve(data_dir):
        pass
    assert str(named) in str(caught.value)


def test_a_foreign_folder_in_the_clusters_place_is_named(data_dir: Path, homes: Path) -> None:
    with embedded.serve(data_dir):
        data = home_of(data_dir, homes) / "data"
    data.rename(data.with_name("elsewhere"))
    data.mkdir()

    with pytest.raises(FolderUnusable, match="no PostgreSQL database"), embedded.serve(data_dir):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system can only be mounted by root")
def test_a_full_disk_is_named(data_dir: Path, homes: Path) -> None:
    homes.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m,mode=0755", "tmpfs", str(homes)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        with pytest.raises(DiskFull) as caught, embedded.serve(data_dir):
            pass
        assert str(homes) in str(caught.value)
    finally:
        subprocess.run(["umount", str(homes)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs a copy of the programs")
def test_programs_out_of_reach_are_copied(data_dir: Path, homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reachable = programs._runs
    monkeypatch.setattr(programs, "_runs", lambda at, who: homes in at.parents and reachable(at, who))

    with embedded.serve(data_dir) as url:
        assert ask(url, "SELECT 1") == "1"
    assert [path.name for path in homes.glob("postgresql-*")] == ["postgresql-0.6.0"]


def test_a_path_too_long_for_a_socket_gets_one_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(tmp_path / ("x" * 120), programs.account(), tmp_path)

    assert len(str(cluster.socket / ".s.PGSQL.5432")) < 60


def test_an_ephemeral_server_leaves_nothing_behind() -> None:
    with embedded.ephemeral() as url:
        home = Path(str(psycopg.conninfo.conninfo_to_dict(url)["host"])).parent
        assert ask(url, "SHOW fsync") == "off"
        pid = int((home / "data" / "postmaster.pid").read_text().split("\n")[0])
    assert not home.exists()
    assert not is_alive(pid)


def test_what_a_killed_ephemeral_owner_left_is_removed_by_the_next() -> None:
    code = (
        "import signal\n"
        "from namzu_site.database import embedded\n"
        "with embedded.ephemeral() as url:\n"
        "    print(url, flush=True); signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        home = Path(str(psycopg.conninfo.conninfo_to_dict(owner.stdout.readline().strip())["host"])).parent
        owner.kill()
    pid = int((home / "data" / "postmaster.pid").read_text().split("\n")[0])
    with embedded.ephemeral():
        assert not home.exists()
        assert not is_alive(pid)


def test_every_failure_is_one_family() -> None:
    assert issubclass(DiskFull, DatabaseUnavailable)
    assert issubclass(FolderUnusable, DatabaseUnavailable)
