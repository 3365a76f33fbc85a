"""manage.py restore: the database from a file that `manage.py backup` made."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder

from namzu_site import env
from namzu_site.database import readiness
from namzu_site.database.backup import BackupError, check_backup, read_backup
from namzu_site.database.errors import DatabaseUnavailable
from sessions_app.access.models import User
from sessions_app.hierarchy.models import Tenant

_KEPT: tuple[type[models.Model], ...] = (Tenant, User)


class Command(BaseCommand):
    help = (
        "Reads a backup into an installation that has no tenants and no users yet: a new data folder before the first "
        "`make run`, or an empty database. All of it comes in, or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="what `manage.py backup` made")

    def handle(self, *_: Any, file: Path, **__: Any) -> None:
        """The database is that of the backup; raises CommandError, and then it is as before."""
        file = file.expanduser().absolute()
        if not file.is_file():
            raise CommandError(f"{file} is no file." if file.exists() else f"{file} does not exist.")
        try:
            readiness.check_server()
            check_backup(file, Tenant._meta.db_table)
            _restore(file)
        except (BackupError, DatabaseUnavailable) as error:
            raise CommandError(str(error)) from None
        self.stdout.write("Restored. `make run`, or `manage.py prepare`, brings it up to this version.")


def _restore(file: Path) -> None:
    tables = _tables()
    kept = [kind for kind in _KEPT if kind._meta.db_table in tables]
    for kind in kept:
        if kind._default_manager.exists():
            name = kind._meta.verbose_name_plural
            raise BackupError(f"This installation has {name} already; a backup is restored into an empty one only.")
    still_empty = [_refuse_rows(kind._meta.db_table) for kind in kept]  # now that nobody can add any
    drop = [f"DROP TABLE {', '.join(map(connection.ops.quote_name, tables))} CASCADE"] if tables else []
    lock = [f"LOCK TABLE {', '.join(kind._meta.db_table for kind in kept)}"] if kept else []
    read_backup(
        file,
        env.database("DATABASE_URL") or {},
        first=["SET client_min_messages = warning", *lock, *still_empty, *drop],
        server_version=connection.connection.info.server_version,
    )


def _tables() -> list[str]:
    """Those of this product that are there; a database may have others beside them."""
    ours = {*connection.introspection.django_table_names(), MigrationRecorder.Migration._meta.db_table}
    return sorted(ours & set(connection.introspection.table_names()))


def _refuse_rows(table: str) -> str:
    return (
        f"DO $$ BEGIN IF EXISTS (SELECT FROM {table}) THEN RAISE EXCEPTION"
        f" 'rows have come into {table} meanwhile'; END IF; END $$"
    )
