#!/usr/bin/env python
"""Command line of Namzu Console."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from namzu_site import env
from namzu_site.database import embedded
from namzu_site.database.errors import DatabaseUnavailable

# `up` starts the database itself, after it has looked whether the port is free.
WITHOUT_DATABASE = {
    "check", "collectstatic", "diffsettings", "findstatic", "help", "makemigrations", "startapp", "up", "version",
}  # fmt: skip


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "namzu_site.settings")
    if not _needs_database(sys.argv[1:]):
        _execute()
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)  # on the way out the last user stops the database
    try:
        with embedded.serve(env.folder("NAMZU_DATA_DIR", Path(__file__).resolve().parent / "data")) as url:
            os.environ["DATABASE_URL"] = url
            _execute()
    except DatabaseUnavailable as error:
        sys.exit(str(error))


def _needs_database(arguments: list[str]) -> bool:
    if env.text("DATABASE_URL") or not arguments or {"--help", "-h", "--version"} & set(arguments):
        return False
    return arguments[0] not in WITHOUT_DATABASE


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _execute() -> None:
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
