"""The embedded PostgreSQL: a real server in a folder of the user's, there while somebody uses it."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from namzu_site.database import errors, identity, programs
from namzu_site.database.cluster import Cluster, is_alive_behind, make_private
from namzu_site.database.locks import FileLock, alone

_LOOK_SECONDS = 1
_UNSAFE_BUT_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


@contextmanager
def serve(data_dir: Path) -> Iterator[str]:
    """DATABASE_URL of the server that belongs to `data_dir`, started where it does not run; the last user stops it.

    Users hold one shared file lock, which the kernel releases however they end: after a kill -9 the next start finds
    the server running, or its files as they were, and goes on from there. Raises DatabaseUnavailable.
    """
    account = programs.account()
    try:
        home = home_of(data_dir, account)
    except OSError as error:
        raise errors.from_os_error(data_dir, error) from error
    cluster = Cluster(home, account, programs.folder(account))
    try:
        make_private(home, account)
        turn, users = home / "turn.lock", FileLock(home / "users.lock")
    except OSError as error:
        raise errors.from_os_error(home, error) from error
    try:
        with alone(turn):  # two first starts: one makes the cluster, the other finds it
            users.share()
            _start(cluster, users)
        try:
            yield cluster.url
        finally:
            with alone(turn):
                _stop_if_last(cluster, users)
    finally:
        users.close()


async def until_gone(url: str) -> errors.ServerGone:
    """What to report, once the embedded server of that DATABASE_URL no longer runs."""
    socket = Path(str(conninfo_to_dict(url)["host"]))
    while is_alive_behind(socket):
        await asyncio.sleep(_LOOK_SECONDS)
    return errors.ServerGone(socket)


def _start(cluster: Cluster, users: FileLock) -> None:
    try:
        cluster.start()
    except BaseException:  # Ctrl-C too: a server that came up halfway is not left behind
        _stop_if_last(cluster, users)
        raise


def _stop_if_last(cluster: Cluster, users: FileLock) -> None:
    if users.try_take():
        cluster.stop()


def home_of(data_dir: Path, account: programs.Account) -> Path:
    """Folder of the server's files: in the data folder, or for root below /var/lib; raises DatabaseUnavailable."""
    data_dir = Path(os.path.abspath(data_dir)).resolve()  # noqa: PTH100 - first `..`, then symbolic links
    of_user = data_dir / "postgres"
    if account.is_own:
        if not of_user.exists() and (of_root := identity.known_home(data_dir)):
            raise errors.FolderUnusable(data_dir, f"root made its database, in {of_root}; start as root")
        return of_user
    if of_user.exists():
        owner = of_user.stat().st_uid
        raise errors.FolderUnusable(of_user, f"its database is run by the user with uid {owner}; start as that user")
    return identity.claim_home(data_dir, account)


@contextmanager
def ephemeral() -> Iterator[str]:
    """DATABASE_URL of a new, empty server that is gone afterwards, and quick because it may forget.

    What killed owners left behind is removed by the next call. Raises DatabaseUnavailable.
    """
    account = programs.account()
    binaries = programs.folder(account)
    base = Path(tempfile.gettempdir()).resolve() / f"namzu-ephemeral-{os.geteuid()}"
    try:
        make_private(base, account)
        with alone(base / "turn.lock"):
            _remove_abandoned(base, account, binaries)
            home = Path(tempfile.mkdtemp(dir=base))
            account.give(home)
            owner = FileLock(home / "users.lock")
            owner.take()
    except OSError as error:
        raise errors.from_os_error(base, error) from error
    cluster = Cluster(home, account, binaries, _UNSAFE_BUT_FAST)
    try:
        cluster.start()
        yield cluster.url
    finally:
        cluster.remove()
        owner.close()


def _remove_abandoned(base: Path, account: programs.Account, binaries: Path) -> None:
    for home in base.iterdir():
        if not home.is_dir():
            continue
        if not (home / "users.lock").exists():  # its maker was killed between two lines
            shutil.rmtree(home)
            continue
        owner = FileLock(home / "users.lock")
        try:
            if owner.try_take():
                Cluster(home, account, binaries).remove()
        finally:
            owner.close()
