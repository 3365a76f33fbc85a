"""manage.py backup: the whole database in one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from namzu_site import env
from namzu_site.database import readiness
from namzu_site.database.backup import BackupError, write_backup
from namzu_site.database.errors import DatabaseUnavailable


class Command(BaseCommand):
    help = (
        "Writes the database, as it is at this moment, to a new file; the console may run meanwhile. "
        "`manage.py restore` reads it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="the file to make; it must not be there yet")

    def handle(self, *_: Any, file: Path, **__: Any) -> None:
        """The file is there, whole and readable by its owner alone; raises CommandError."""
        file = file.expanduser().absolute()
        try:
            readiness.check_server()
            write_backup(env.database("DATABASE_URL") or {}, file)
        except (BackupError, DatabaseUnavailable) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from None
        self.stdout.write(f"The database is in {file} ({file.stat().st_size:,} bytes).")
