"""Which of root's databases, all of them below /var/lib, belongs to which data folder.

The data folder holds a random id, the database lies in a folder of that name, and in there stands the path of the data
folder: moved, it takes its database along; copied, or without its database, it is refused instead of found empty.
"""

import os
import re
import secrets
from pathlib import Path

from namzu_site.database import errors, programs
from namzu_site.database.cluster import make_private
from namzu_site.database.locks import alone

ID_FILE = "installation_id"
OWNER_FILE = "belongs-to"

_ID = re.compile(r"[0-9a-f]{16}")


def known_home(data_dir: Path) -> Path | None:
    """Folder of the server's files that the data folder names, None where it names none; raises FolderUnusable."""
    file = data_dir / ID_FILE
    try:
        name = file.read_text(errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not _ID.fullmatch(name):
        raise errors.FolderUnusable(data_dir, f"{file} holds no installation's id (16 hexadecimal digits)")
    return programs.ROOT_HOME / name


def claim_home(data_dir: Path, account: programs.Account) -> Path:
    """Folder of the server's files, which is the data folder's own from now on; raises DatabaseUnavailable, OSError.

    `data_dir` is without symbolic links.
    """
    programs.open_to_all(programs.ROOT_HOME)
    data_dir.mkdir(parents=True, exist_ok=True)
    with alone(programs.ROOT_HOME / "claims.lock"):
        home = known_home(data_dir)
        if home is None:
            return _claim_new(data_dir, account)
        if not home.is_dir():
            raise errors.DatabaseMissing(data_dir, home, data_dir / ID_FILE)
        owner = _owner(home)
        if owner is not None and owner != data_dir:
            _check_moved(data_dir, home, owner)
        if owner != data_dir:
            _write_through(home / OWNER_FILE, str(data_dir))
        return home


def _check_moved(data_dir: Path, home: Path, owner: Path) -> None:
    if known_home(owner) == home and not owner.samefile(data_dir):
        raise errors.FolderCopied(data_dir, owner, home, data_dir / ID_FILE)


def _claim_new(data_dir: Path, account: programs.Account) -> Path:
    home = _home_of_owner(data_dir)  # of a first start that was cut off, or of a folder that was removed by hand
    if home is not None and (home / "data").exists():
        raise errors.IdMissing(data_dir, home, data_dir / ID_FILE)
    if home is None:
        home = programs.ROOT_HOME / secrets.token_hex(8)
        make_private(home, account)
        _write_through(home / OWNER_FILE, str(data_dir))
    _write_through(data_dir / ID_FILE, home.name)
    return home


def _home_of_owner(data_dir: Path) -> Path | None:
    homes = (path for path in programs.ROOT_HOME.iterdir() if _ID.fullmatch(path.name))
    return next((home for home in homes if _owner(home) == data_dir), None)


def _owner(home: Path) -> Path | None:
    try:
        return Path(os.fsdecode((home / OWNER_FILE).read_bytes().removesuffix(b"\n")))
    except FileNotFoundError:
        return None


def _write_through(file: Path, line: str) -> None:
    """The file holds that one line, all of it or not at all, also after a power cut."""
    fresh = file.with_name(f"{file.name}.new")
    with fresh.open("wb") as stream:
        stream.write(os.fsencode(line) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)
