"""Why there is no database to work with; every message says what is wrong and where."""

import errno
from pathlib import Path

_FULL = "No space left on device"


class DatabaseUnavailable(Exception):
    """There is no usable database."""


class FolderUnusable(DatabaseUnavailable):
    """The folder of the embedded database cannot be used."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(f"The database folder {folder} cannot be used: {reason}.")


class FolderCopied(DatabaseUnavailable):
    """The data folder is a copy of one that is still there: both would have the same database."""

    def __init__(self, copy: Path, owner: Path, home: Path, id_file: Path) -> None:
        super().__init__(
            f"The data folder {copy} is a copy of {owner}, which owns the database in {home}. A database is not copied "
            f"with its data folder.\n"
            f"To have a second installation with the same data: `manage.py backup FILE` with {owner}, "
            f"then remove {id_file} and `manage.py restore FILE` here.\n"
            f"To go on here instead of there: remove {owner}."
        )


class DatabaseMissing(DatabaseUnavailable):
    """The data folder names a database that is not there."""

    def __init__(self, data_dir: Path, home: Path, id_file: Path) -> None:
        super().__init__(
            f"The database of the data folder {data_dir} is missing: it should lie in {home}. Bring that folder back.\n"
            f"To start anew without its data: remove {id_file}; then `manage.py restore FILE` brings a backup in."
        )


class IdMissing(DatabaseUnavailable):
    """There is a database of the data folder, but the data folder does not name it (any more)."""

    def __init__(self, data_dir: Path, home: Path, id_file: Path) -> None:
        super().__init__(
            f"The data folder {data_dir} is new, but there is a database of an earlier one of that name in {home}.\n"
            f"To go on with it: echo {home.name} > {id_file}\n"
            f"To start anew without its data: rm -r {home}"
        )


class DiskFull(DatabaseUnavailable):
    """The disk of the embedded database has no room left."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"The disk of the database folder {folder} is full. What was acknowledged is kept: make room, start again."
        )


class AccountUnavailable(DatabaseUnavailable):
    """PostgreSQL does not run as root and no other account can be had."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"PostgreSQL does not run as root, and its system user {name} could not be made ({reason}). "
            "Start as an ordinary user, or set DATABASE_URL to a PostgreSQL server."
        )


class ProgramsMissing(DatabaseUnavailable):
    """The programs of PostgreSQL are not installed or do not start here."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The embedded PostgreSQL does not run on this machine: {reason}. "
            "Run `make setup`, or set DATABASE_URL to a PostgreSQL server."
        )


class ServerDidNotStart(DatabaseUnavailable):
    """The embedded server ended instead of starting."""

    def __init__(self, folder: Path, said: str) -> None:
        super().__init__(f"The database in {folder} did not start. It said:\n{said.strip() or '(nothing)'}")


class ServerGone(DatabaseUnavailable):
    """The embedded server ended while it was needed."""

    def __init__(self, socket: Path) -> None:
        super().__init__(f"The database behind {socket} ended by itself. Its log is beside its data; start again.")


class ServerDidNotStop(DatabaseUnavailable):
    """The embedded server still runs though it was told to stop."""

    def __init__(self, folder: Path, said: str) -> None:
        super().__init__(f"The database in {folder} did not stop. It said:\n{said.strip() or '(nothing)'}")


class CannotConnect(DatabaseUnavailable):
    """The server does not answer."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"Cannot connect to the database at {where}: {reason.strip()}")


class ServerTooOld(DatabaseUnavailable):
    """The server is older than what the product needs."""

    def __init__(self, where: str, found: str, least: int) -> None:
        super().__init__(f"The database at {where} is PostgreSQL {found}; version {least} or later is needed.")


def from_os_error(folder: Path, error: OSError) -> DatabaseUnavailable:
    """The failure that an operating-system error on the database's folder means."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(folder)
    at = f" ({error.filename})" if error.filename and str(error.filename) != str(folder) else ""
    return FolderUnusable(folder, f"{error.strerror or error}{at}")


def from_log(folder: Path, said: str) -> DatabaseUnavailable:
    """The failure that the server's own words mean."""
    if _FULL in said or "Disk quota exceeded" in said:
        return DiskFull(folder)
    return ServerDidNotStart(folder, said)
