"""When a worker counts as alive, and what it does again and again."""

from dataclasses import dataclass
from datetime import datetime, timedelta

WORKER = "worker"
# A beat a minute, given out by a loop of about 30 s and queued behind short jobs: two may be late before the alarm.
STALE_AFTER = timedelta(minutes=3)


@dataclass(frozen=True)
class Recurring:
    """A job without arguments that runs every so many minutes."""

    name: str
    job: str
    minutes: int


HEARTBEAT = Recurring("heartbeat", "namzu_site.overview.jobs.record_heartbeat", 1)
SCHEDULES = (HEARTBEAT,)


def is_fresh(seen_at: datetime, now: datetime) -> bool:
    """Whether a beat of that time still shows life."""
    return now - seen_at <= STALE_AFTER
