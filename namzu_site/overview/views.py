"""Whether the process is up, and whether the whole is ready: for supervisors and load balancers, without a sign-in."""

from datetime import datetime
from typing import TypedDict

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from namzu_site.database import readiness
from namzu_site.database.errors import DatabaseUnavailable
from namzu_site.overview.models import Heartbeat
from namzu_site.overview.rules import STALE_AFTER, WORKER, is_fresh


class Check(TypedDict):
    """One condition of being ready, and why it holds or not."""

    ok: bool
    reason: str


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 as long as this process answers; the database is not asked."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 where database, tables and worker are ready, else 503; each check with its reason."""
    checks = _checks(timezone.now())
    ready = all(check["ok"] for check in checks.values())
    return JsonResponse({"status": "ok" if ready else "unavailable", "checks": checks}, status=200 if ready else 503)


def _checks(now: datetime) -> dict[str, Check]:
    not_asked = Check(ok=False, reason="not asked, for the reason above")
    try:
        readiness.check_server()
    except DatabaseUnavailable as error:
        return {"database": Check(ok=False, reason=str(error)), "migrations": not_asked, "worker": not_asked}
    database = Check(ok=True, reason="answers")
    if pending := readiness.pending_migrations():
        reason = f"{len(pending)} not applied, first {pending[0]}: run `manage.py migrate`"
        return {"database": database, "migrations": Check(ok=False, reason=reason), "worker": not_asked}
    return {"database": database, "migrations": Check(ok=True, reason="all applied"), "worker": _worker(now)}


def _worker(now: datetime) -> Check:
    seen_at = Heartbeat.objects.filter(name=WORKER).values_list("seen_at", flat=True).first()
    if seen_at is None:
        return Check(ok=False, reason="never seen: run `manage.py qcluster`")
    if not is_fresh(seen_at, now):
        limit = int(STALE_AFTER.total_seconds())
        return Check(ok=False, reason=f"last seen at {seen_at.isoformat()}, more than {limit} s ago")
    return Check(ok=True, reason=f"last seen at {seen_at.isoformat()}")
