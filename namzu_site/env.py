"""Typed readers of the environment: a bad value stops the start and is named."""

import os
import re
import secrets
from ipaddress import IPv6Address
from pathlib import Path

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

# Letters beyond ASCII come from browsers in their xn-- form, a final dot is taken off before the comparison.
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*", re.ASCII | re.IGNORECASE)
_ORIGIN = re.compile(r"https?://(\*\.)?(?P<host>\[[^]]*\]|[^*.:/][^*:/]*)(:(?P<port>[0-9]{1,5}))?")
_HOSTS = "names or numbers of hosts, no scheme, no port: console.example.org, .example.org, 192.0.2.7, [2001:db8::7]"
_ORIGINS = "https://console.example.org, https://*.example.org, http://192.0.2.7:8000"
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


def hosts(name: str) -> list[str]:
    """Comma-separated names and numbers of hosts, as Django compares them; raises BadSetting."""
    found = _words(name)
    for word in found:
        if not is_host(word):
            raise BadSetting(name, word, _HOSTS)
    return found


def is_host(word: str) -> bool:
    """Whether a request's host can be compared with it: a name, `.name` for all below it, a number, `[number]`, `*`."""
    if word.startswith("["):
        try:
            return word.endswith("]") and IPv6Address(word[1:-1]).scope_id is None
        except ValueError:
            return False
    return word == "*" or _NAME.fullmatch(word.removeprefix(".")) is not None


def origins(name: str) -> list[str]:
    """Comma-separated origins, each a scheme, a host and perhaps a port, as browsers write them; raises BadSetting."""
    found = [word.lower() for word in _words(name)]
    for word in found:
        parts = _ORIGIN.fullmatch(word)
        if parts is None or not is_host(parts["host"]) or not 0 < int(parts["port"] or 1) < 2**16:
            raise BadSetting(name, word, "origins with their scheme and nothing behind the host: " + _ORIGINS)
    return found


def _words(name: str) -> list[str]:
    return [word.strip() for word in text(name).split(",") if word.strip()]


def folder(name: str, default: Path) -> Path:
    """Absolute path of a folder (it need not exist); raises BadSetting where it cannot be one."""
    value = text(name, str(default))
    try:
        path = Path(value).expanduser().absolute()
        if path.exists() and not path.is_dir():
            raise BadSetting(name, str(path), "a folder, but this is a file")
    except OSError as error:
        raise BadSetting(name, value, f"a folder to write in ({error.strerror})") from None
    except RuntimeError:
        raise BadSetting(name, value, "a folder, but there is no such user") from None
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
    folder_of_it = str(file.parent)
    try:
        kept = _read_or_make(file)
    except OSError as error:
        raise BadSetting("NAMZU_DATA_DIR", folder_of_it, f"a folder to write in ({error.strerror})") from None
    if len(kept) < 32:  # the disk was full when it was made, or somebody wrote there
        raise BadSetting("NAMZU_DATA_DIR", folder_of_it, f"32 characters or more in {file}; removed, it is made anew")
    return kept


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
    return file.read_text(errors="replace").strip()
