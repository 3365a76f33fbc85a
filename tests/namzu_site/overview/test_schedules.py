import ast
from datetime import UTC, datetime, timedelta

import pytest
from django.utils.module_loading import import_string
from django_q.models import OrmQ, Schedule

from namzu_site.overview import rules
from namzu_site.overview.actions import ask_for_heartbeat, keep_schedules

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def test_every_recurring_job_has_one_schedule_however_often_it_is_entered() -> None:
    keep_schedules(now=NOON)
    keep_schedules(now=NOON)

    assert sorted(Schedule.objects.values_list("name", flat=True)) == sorted(job.name for job in rules.SCHEDULES)


def test_entering_again_keeps_the_next_time_and_mends_the_rest() -> None:
    keep_schedules(now=NOON)
    Schedule.objects.update(next_run=NOON + timedelta(seconds=30), kwargs="{broken", repeats=0)
    Schedule.objects.create(name=rules.HEARTBEAT.name, func="gone.with.an.old.release")

    keep_schedules(now=NOON + timedelta(hours=1))

    row = Schedule.objects.get(name=rules.HEARTBEAT.name)
    assert (row.func, row.repeats, row.minutes) == (rules.HEARTBEAT.job, -1, 1)
    assert row.next_run == NOON + timedelta(seconds=30)


def test_what_the_worker_has_to_parse_is_literal() -> None:
    keep_schedules(now=NOON)

    for row in Schedule.objects.all():
        assert ast.literal_eval(row.kwargs) == {"q_options": {"save": False}}
        assert callable(import_string(row.func))


def test_a_heartbeat_can_be_asked_for_at_once() -> None:
    ask_for_heartbeat()

    assert OrmQ.objects.count() == 1
