"""`manage.py prepare`: a database of any age becomes one that this code can work with."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.utils import timezone

from namzu_site.database import readiness
from namzu_site.database.errors import DatabaseUnavailable
from namzu_site.overview.actions import ask_for_heartbeat, keep_schedules

_TURN = 0x6E616D7A7502


class Command(BaseCommand):
    help = "Applies the migrations and enters the recurring jobs. Safe to run again, and by two hosts at once."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            readiness.check_server()
        except DatabaseUnavailable as error:
            raise SystemExit(str(error)) from error
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_TURN])  # released with the connection, however this ends
            pending = readiness.pending_migrations()
            if pending:
                self.stdout.write(f"Applying {len(pending)} migrations …")
                call_command("migrate", interactive=False, verbosity=0)
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_TURN])
        keep_schedules(now=timezone.now())
        ask_for_heartbeat()
