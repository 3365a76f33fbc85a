"""Whether the database can be worked with: it answers, it is new enough, its tables are the ones of this code."""

from functools import lru_cache

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from namzu_site.database.errors import CannotConnect, ServerTooOld

LEAST_VERSION = 15


def check_server() -> None:
    """Nothing where the server answers and is new enough; raises CannotConnect, ServerTooOld."""
    try:
        connection.ensure_connection()
        number = connection.connection.info.server_version  # 150004 is 15.4; the driver learnt it while connecting
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")  # a kept connection may have died since
    except DatabaseError as error:
        raise CannotConnect(_where(), str(error)) from error
    if number < LEAST_VERSION * 10_000:
        raise ServerTooOld(_where(), f"{number // 10_000}.{number % 10_000}", LEAST_VERSION)


def pending_migrations() -> list[str]:
    """Names (`app.0001_initial`) of the migrations of this code that the database has not had yet, sorted."""
    applied = MigrationRecorder(connection).applied_migrations()
    return [f"{app}.{name}" for app, name in _known_migrations() if (app, name) not in applied]


@lru_cache(maxsize=1)
def _known_migrations() -> list[tuple[str, str]]:
    # Read from the files once: code does not change below a running process.
    return sorted(MigrationLoader(None).graph.nodes)


def _where() -> str:
    settings = connection.settings_dict
    host = settings["HOST"] or "the local socket"
    return f"{host}:{settings['PORT']}/{settings['NAME']}" if settings["PORT"] else f"{host}, {settings['NAME']}"
