"""What the worker runs."""

from django.utils import timezone

from namzu_site.overview import actions
from namzu_site.overview.rules import WORKER


def record_heartbeat() -> None:
    """The worker has been seen; safe to run twice."""
    actions.record_heartbeat(name=WORKER, now=timezone.now())
