from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from namzu_site.overview import jobs
from namzu_site.overview.actions import record_heartbeat
from namzu_site.overview.models import Heartbeat
from namzu_site.overview.rules import STALE_AFTER, WORKER, is_fresh

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)


def test_healthz_answers_without_the_database(client: Client) -> None:
    answer = client.get("/healthz")  # pytest-django refuses any query here

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "no-store" in answer["Cache-Control"]


def test_healthz_is_read_only(client: Client) -> None:
    assert client.post("/healthz").status_code == 405


@pytest.mark.django_db
def test_readyz_is_200_with_a_fresh_heartbeat(client: Client) -> None:
    jobs.record_heartbeat()

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert {name: check["ok"] for name, check in answer.json()["checks"].items()} == {
        "database": True,
        "migrations": True,
        "worker": True,
    }


@pytest.mark.django_db
def test_readyz_asks_four_questions_at_most(client: Client, django_assert_max_num_queries: Any) -> None:
    jobs.record_heartbeat()

    with django_assert_max_num_queries(4):
        client.get("/readyz")


@pytest.mark.django_db
def test_readyz_is_503_where_no_worker_was_seen(client: Client) -> None:
    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert "never seen" in answer.json()["checks"]["worker"]["reason"]


@pytest.mark.django_db
def test_readyz_is_503_where_the_worker_is_silent(client: Client) -> None:
    record_heartbeat(name=WORKER, now=timezone.now() - STALE_AFTER - timedelta(seconds=1))

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert "last seen at" in answer.json()["checks"]["worker"]["reason"]


@pytest.mark.django_db
def test_readyz_is_503_while_migrations_are_pending(client: Client) -> None:
    MigrationRecorder(connection).record_unapplied("namzu_site", "0001_heartbeat")

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert "namzu_site.0001_heartbeat" in answer.json()["checks"]["migrations"]["reason"]


@pytest.mark.django_db(transaction=True)
def test_readyz_is_503_where_the_database_is_gone(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert "Cannot connect" in answer.json()["checks"]["database"]["reason"]


@pytest.mark.parametrize(("seconds", "fresh"), [(0, True), (180, True), (181, False), (-5, True)])
def test_a_heartbeat_is_fresh_for_three_minutes(seconds: int, fresh: bool) -> None:
    assert is_fresh(NOON - timedelta(seconds=seconds), NOON) is fresh


@pytest.mark.django_db
def test_a_name_has_one_heartbeat_and_it_never_goes_back() -> None:
    record_heartbeat(name="worker", now=NOON)
    record_heartbeat(name="worker", now=NOON + timedelta(minutes=1))
    record_heartbeat(name="worker", now=NOON)

    assert [beat.seen_at for beat in Heartbeat.objects.all()] == [NOON + timedelta(minutes=1)]
