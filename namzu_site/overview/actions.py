"""Signs of life are written, recurring jobs are entered."""

from datetime import datetime

from django.db import connection, transaction
from django_q.models import Schedule
from django_q.tasks import async_task

from namzu_site.overview import rules
from namzu_site.overview.models import Heartbeat

# A success a minute would push the other results out of the worker's short history; failures are kept all the same.
_QUIET = {"q_options": {"save": False}}
_TURN = 0x6E616D7A7501  # "namzu", 1: any number that nothing else locks


def record_heartbeat(*, name: str, now: datetime) -> None:
    """The process of that name was seen just now; of two beats at once the later time stays."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {Heartbeat._meta.db_table} (name, seen_at) VALUES (%s, %s)"  # noqa: S608 - our own name
            " ON CONFLICT (name) DO UPDATE SET seen_at = GREATEST("
            f"{Heartbeat._meta.db_table}.seen_at, EXCLUDED.seen_at)",
            [name, now],
        )


@transaction.atomic
def keep_schedules(*, now: datetime) -> None:
    """Each recurring job of `rules.SCHEDULES` has exactly one schedule row; running ones keep their next time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_TURN])  # names are not unique in the worker's table
    for recurring in rules.SCHEDULES:
        rows = Schedule.objects.filter(name=recurring.name).order_by("pk")
        kept = rows.first() or Schedule(name=recurring.name, next_run=now)
        rows.exclude(pk=kept.pk).delete()
        kept.func, kept.args, kept.kwargs = recurring.job, None, repr(_QUIET)
        kept.schedule_type, kept.minutes, kept.repeats = Schedule.MINUTES, recurring.minutes, -1
        kept.save()


def ask_for_heartbeat() -> None:
    """The worker gives a sign of life as its next job, instead of when the schedule comes round."""
    async_task(rules.HEARTBEAT.job, **_QUIET)
