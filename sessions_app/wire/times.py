"""Instants on the wire: RFC 3339 UTC with milliseconds."""

import re
from datetime import UTC, datetime

from django.utils import timezone

_ISO = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class BadTime(ValueError):
    """The text is not an RFC 3339 time from 1970 to 9999."""


def now_ms() -> datetime:
    """The current instant, cut to milliseconds as every record keeps it."""
    now = timezone.now()
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def to_wire(instant: datetime) -> str:
    """`2026-04-18T11:00:00.241Z`."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_wire(text: str) -> datetime:
    """The instant in UTC, cut to milliseconds; raises BadTime, also outside the years 1970 to 9999."""
    if not _ISO.fullmatch(text):
        raise BadTime("expected an RFC 3339 time such as 2026-04-18T11:00:00.241Z")
    try:
        instant = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadTime("no such time") from None
    if not 1970 <= instant.year <= 9999:
        raise BadTime("outside the years 1970 to 9999")
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)
