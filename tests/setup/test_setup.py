"""`.ci/setup`, with a Python that only pretends to install."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_PROGRAMS = ("cat", "chmod", "cksum", "dirname", "grep", "mkdir", "rm", "sh", "sleep", "tail")

# Found first on the PATH. `-m venv` makes a .venv whose pip notes its begin, waits for leave to end, and notes its end.
_PYTHON = """#!/bin/sh
if [ "$1" != -m ]; then exec {python} "$@"; fi
mkdir -p .venv/bin
echo venv >>{notes}
cat >.venv/bin/python <<'END'
#!/bin/sh
echo begin >>{notes}
read -r leave <{leave}
echo end >>{notes}
END
chmod +x .venv/bin/python
"""


Start = Callable[[bool], "subprocess.Popen[str]"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "setup", folder / ".ci" / "setup")
    (folder / "requirements.lock").write_text("django==5.2\n")
    os.mkfifo(tmp_path / "leave")
    return folder


@pytest.fixture
def start(checkout: Path) -> Iterator[Start]:
    """Starts a setup, with `flock` on its PATH or without."""
    programs, started = checkout.parent / "programs", []
    programs.mkdir()
    python = programs / "python3.14"
    names = {"python": sys.executable, "notes": checkout.parent / "notes", "leave": checkout.parent / "leave"}
    python.write_text(_PYTHON.format(**names))
    python.chmod(0o755)

    def begin(with_flock: bool) -> "subprocess.Popen[str]":
        for name in (*_PROGRAMS, *(("flock",) if with_flock else ())):
            if not (programs / name).exists():
                (programs / name).symlink_to(str(shutil.which(name)))
        process = subprocess.Popen(
            [checkout / ".ci" / "setup"],
            env={"PATH": str(programs)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize("with_flock", [True, False])
def test_two_setups_at_once_take_turns_and_one_does_the_work(checkout: Path, start: Start, with_flock: bool) -> None:
    if with_flock and not shutil.which("flock"):
        pytest.skip("there is no flock here")
    first = start(with_flock)
    assert first.stdout is not None
    assert first.stdout.readline().startswith("Making .venv")
    second = start(with_flock)
    assert second.stdout is not None
    assert second.stdout.readline().startswith("Another setup is at work")

    (checkout.parent / "leave").write_text("go on\n")  # as soon as the pretended pip waits for it

    first.communicate(timeout=30)
    second.communicate(timeout=30)
    assert (first.returncode, second.returncode) == (0, 0)
    assert (checkout.parent / "notes").read_text().split() == ["venv", "begin", "end"]
    assert start(with_flock).communicate(timeout=30)[0] == ""
