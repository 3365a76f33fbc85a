from typing import Any

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from namzu_site.database import readiness
from namzu_site.database.errors import CannotConnect, ServerTooOld

pytestmark = pytest.mark.django_db


def test_a_current_server_passes() -> None:
    readiness.check_server()


def test_an_older_server_is_named_with_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "LEAST_VERSION", 99)

    with pytest.raises(ServerTooOld, match=r"is PostgreSQL 18\.\d+; version 99 or later is needed"):
        readiness.check_server()


@pytest.mark.django_db(transaction=True)
def test_a_server_that_is_not_there_is_named(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")

    with pytest.raises(CannotConnect, match=r"127\.0\.0\.1:1"):
        readiness.check_server()


def test_a_migrated_database_has_nothing_pending() -> None:
    assert readiness.pending_migrations() == []


def test_a_migration_that_was_not_applied_is_pending() -> None:
    MigrationRecorder(connection).record_unapplied("namzu_site", "0001_heartbeat")

    assert readiness.pending_migrations() == ["namzu_site.0001_heartbeat"]
