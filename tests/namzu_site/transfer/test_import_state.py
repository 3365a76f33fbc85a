"""The command, as a process of its own: its exit codes, its report, its end at any moment, its memory."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions_app.access.models import AuditEntry
from sessions_app.hierarchy.models import Session
from tests.namzu_site.transfer.generated_tree import write_tree
from tests.namzu_site.transfer.kept import database_url, kept_edges, kept_sessions, take, written_counts

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.django_db(transaction=True)

_WITH_PEAK = """
import resource, sys
sys.argv[0] = "manage.py"
import manage
try:
    manage.main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), "import_state", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "DATABASE_URL": database_url(), "COLUMNS": "200"}


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(*arguments), env=environment(), capture_output=True, text=True, cwd=ROOT, check=False)


def start(*arguments: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(*arguments), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )


def start_and_wait(folder: Path, sessions: int) -> "subprocess.Popen[str]":
    """An import that has brought in at least that many sessions."""
    process = start(folder)
    deadline = time.monotonic() + 60
    while Session.objects.count() < sessions:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def test_an_intact_tree_ends_with_0_and_a_table(unpack_fixture: Callable[[str], Path]) -> None:
    done = run(unpack_fixture("v020-small"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "sub-sessions" in done.stdout
    assert "Not imported yet: 7 archive bundles, 24 checkpoints" in done.stdout
    assert "Left out" not in done.stdout


def test_what_was_left_out_ends_with_1_and_is_named(unpack_fixture: Callable[[str], Path]) -> None:
    done = run(unpack_fixture("v020-damaged") / "01-truncated-last-line")
    assert done.returncode == 1
    assert "ses_xd1qej4tahyq/messages.jsonl (line 18): the last line is cut off" in done.stdout


def test_a_root_of_which_nothing_can_be_taken_ends_with_1_and_says_so(unpack_fixture: Callable[[str], Path]) -> None:
    done = run(unpack_fixture("v01x-legacy"))
    assert done.returncode == 1
    assert "Nothing was imported: all there is lies in threads/, the legacy layout" in done.stdout
    assert json.loads(run(unpack_fixture("v01x-legacy"), "--json").stdout)["complete"] is False


def test_the_report_can_be_had_as_json(unpack_fixture: Callable[[str], Path]) -> None:
    root = unpack_fixture("v020-damaged") / "18-wrong-id-prefix"
    report = json.loads(run(root, "--json").stdout)
    assert report["root"] == str(root / ".namzu")
    assert report["complete"] is False
    assert report["counts"]["sessions"] == {"imported": 34, "unchanged": 0, "added": 0, "differs": 0}
    assert report["notYet"]["runs"] == 25
    assert {"file": "projects/thd_oldstyle0001", "place": "", "kind": "damaged"}.items() <= report["reported"][
        5
    ].items()
    assert json.loads(run(unpack_fixture("v020-small"), "--json").stdout)["reported"] != report["reported"]


@pytest.mark.parametrize("name", ["nothing", "empty", "file"])
def test_a_folder_that_cannot_be_used_ends_with_2(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    done = run(tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(tmp_path / name) in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_says_how_far_it_came(tmp_path: Path) -> None:
    process = start_and_wait(write_tree(tmp_path, sessions=600, messages=1), 5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, "")
    assert "of 600 sessions" in errors
    assert "run it again" in errors
    assert "Traceback" not in errors


def test_killed_in_the_middle_and_run_again_the_end_is_the_same(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", sessions=100, messages=40)
    for sessions in (3, 95):
        process = start_and_wait(tree, sessions)
        process.kill()
        process.communicate()
    assert run(tree).returncode == 0
    after_kills = kept_sessions(), kept_edges()
    counts = written_counts()
    assert len(after_kills[0]) == 100
    assert AuditEntry.objects.filter(action="session.imported").count() == 100
    assert take(tree).sessions.unchanged == 100
    assert (kept_sessions(), kept_edges(), written_counts()) == (*after_kills, counts)
    for number, session in enumerate(sorted(after_kills[0])):
        kept = after_kills[0][session]
        assert [message[:2] for message in kept["messages"]] == [(n + 1, f"msg_generated{n:06}") for n in range(40)]
        assert kept["last_seq"] == 40
        assert number % 10 == 0 or f"sub_generated{number:06}" in after_kills[1]


def test_two_imports_of_one_tree_at_once_end_as_one_does(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", sessions=150, messages=3)
    both = [start(tree, "--json") for _ in range(2)]
    ends = [(*process.communicate(timeout=120), process.returncode) for process in both]
    assert [(errors, code) for _, errors, code in ends] == [("", 0), ("", 0)]
    counts = [json.loads(output)["counts"] for output, _, _ in ends]
    for kind, number in {"tenants": 1, "projects": 1, "sessions": 150, "messages": 450, "subSessions": 135}.items():
        assert sum(count[kind]["imported"] for count in counts) == number
        assert [sum(count[kind].values()) for count in counts] == [number, number]
    assert (len(kept_sessions()), len(kept_edges())) == (150, 135)
    assert AuditEntry.objects.filter(action="session.imported").count() == 150


def test_memory_does_not_grow_with_the_tree(tmp_path: Path) -> None:
    peaks = []
    for sessions in (200, 1000):
        tree = write_tree(tmp_path / str(sessions), sessions=sessions, messages=2)
        done = subprocess.run(
            [sys.executable, "-c", _WITH_PEAK, "import_state", str(tree)],
            env=environment(), capture_output=True, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        peaks.append(int(done.stderr.split()[-1]))
    assert peaks[1] < peaks[0] * 1.15
