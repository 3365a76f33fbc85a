"""The app's tables; each lives in its slice."""

from sessions_app.access.models import ApiKey, AuditEntry, Membership, User
from sessions_app.events.models import Event, EventLog
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.wire.models import StoredAnswer

__all__ = [
    "ApiKey",
    "AuditEntry",
    "Event",
    "EventLog",
    "Membership",
    "Project",
    "Session",
    "StoredAnswer",
    "SubSession",
    "Tenant",
    "User",
]
