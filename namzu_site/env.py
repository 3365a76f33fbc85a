"""Typed readers of the environment: a bad value stops the start and is named."""

import os
import secrets
from pathlib import Path

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

_YES = {"1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off"}


class BadSetting(SystemExit):
    """An environment variable holds a value that cannot be used."""

    def __init__(self, name: str, value: str, expected: str) -> None:
        super().__init__(f"{name}={value!r} is not usable: expected {expected}")


def text(name: str, default: str = "") -> str:
    """Value of the variable, or the default where it is absent or empty."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    """True or False; raises BadSetting for anything but yes/no words."""
    value = text(name).lower()
    if not value:
        return default
    if value in _YES:
        return True
    if value in _NO:
        return False
    raise BadSetting(name, value, "one of 1/0, true/false, yes/no, on/off")


def integer(name: str, default: int, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """Whole number within `least`..`most`; raises BadSetting."""
    value = text(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise BadSetting(name, value, "a whole number") from None
    if not least <= number <= most:
        raise BadSetting(name, value, f"a whole number from {least} to {most}")
    return number


def choice(name: str, default: str, options: tuple[str, ...]) -> str:
    """One of the options; raises BadSetting."""
    value = text(name, default)
    if value not in options:
        raise BadSetting(name, value, "one of " + ", ".join(options))
    return value


def words(name: str, default: str = "") -> list[str]:
    """Comma-separated words without surrounding space."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def folder(name: str, default: Path) -> Path:
    """Absolute path of a folder (it need not exist); raises BadSetting where a file is in the way."""
    path = Path(text(name, str(default))).expanduser().absolute()
    if path.exists() and not path.is_dir():
        raise BadSetting(name, str(path), "a folder, but this is a file")
    return path


def database(name: str) -> dict[str, str] | None:
    """Connection parameters of a PostgreSQL URL, None where absent; raises BadSetting."""
    value = text(name)
    if not value:
        return None
    expected = "postgresql://user:password@host:port/database"
    if not value.startswith(("postgresql://", "postgres://")):
        raise BadSetting(name, value.split(":", 1)[0] + ":…", expected)
    try:
        parameters = {key: str(part) for key, part in conninfo_to_dict(value).items() if part is not None}
    except ProgrammingError:
        raise BadSetting(name, "postgresql:…", expected) from None
    if "dbname" not in parameters:
        raise BadSetting(name, "postgresql:…", expected + " (the database's name is missing)")
    return parameters


def secret(name: str, file: Path) -> str:
    """The variable's value, else the content of `file`, which is made (mode 0600) the first time."""
    value = text(name)
    if value:
        if len(value) < 32:
            raise BadSetting(name, value[:2] + "…", "at least 32 characters")
        return value
    try:
        return _read_or_make(file)
    except OSError as error:
        raise BadSetting("NAMZU_DATA_DIR", str(file.parent), f"a folder to write in ({error.strerror})") from None


def _read_or_make(file: Path) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    if not file.exists():
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(48))
        try:
            os.link(fresh, file)  # atomic: of two first starts one wins, both read the winner's
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return file.read_text().strip()
