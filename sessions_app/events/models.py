"""The log of a tree: what happened below one root session, or in a project outside of any tree (domain.md §15)."""

from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from sessions_app.tenancy import PublicIdField, SameTenant, TenantQuerySet


class EventLog(models.Model):
    """The counter of one log; its row is the last one a transaction locks."""

    tenant = models.ForeignKey(
        "sessions_app.Tenant", models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    project = models.ForeignKey(
        "sessions_app.Project", models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    root = models.OneToOneField(
        "sessions_app.Session", models.PROTECT, db_constraint=False, null=True, related_name="event_log"
    )
    last_seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            UniqueConstraint(fields=["tenant", "id"], name="event_log_in_tenant"),
            UniqueConstraint(fields=["project"], condition=Q(root=None), name="event_log_once_per_project"),
            SameTenant(field="project", to="sessions_app_project", name="event_log_project_same_tenant"),
            SameTenant(field="root", to="sessions_app_session", name="event_log_root_same_tenant"),
        ]


class Event(models.Model):
    """One fact. Never changed; `seq` is gapless within its log."""

    tenant = models.ForeignKey(
        "sessions_app.Tenant", models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    log = models.ForeignKey(EventLog, models.PROTECT, db_constraint=False, db_index=False, related_name="events")
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=64)
    session = models.ForeignKey(  # the event stays when the session goes
        "sessions_app.Session", models.DO_NOTHING, db_constraint=False, db_index=False, null=True, related_name="+"
    )
    sub_session_id = PublicIdField(null=True)
    payload = models.JSONField(default=dict)
    at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            UniqueConstraint(fields=["log", "seq"], name="event_once"),
            SameTenant(field="log", to="sessions_app_eventlog", name="event_log_same_tenant"),
            CheckConstraint(condition=Q(seq__gt=0), name="event_seq_from_one"),
        ]
        indexes = [models.Index("session", "seq", name="event_of_session")]
