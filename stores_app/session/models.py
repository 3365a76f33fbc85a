"""Messages of a session, kept verbatim (domain.md §3)."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from sessions_app.tenancy import PublicIdField, SameTenant, TenantQuerySet
from stores_app.session.rules import ROLES


class MessageQuerySet(TenantQuerySet["Message"]):
    """The read side of messages."""

    def of_session(self, session_id: int) -> Self:
        return self.filter(session_id=session_id).order_by("seq")

    def after(self, seq: int) -> Self:
        return self.filter(seq__gt=seq)


class Message(models.Model):
    """One message: `raw` is its JSON text as it came, the other columns are what queries need of it.

    `envelope` is set for an imported line that `raw` and the columns would not give back byte for byte: the whole line.
    """

    pk = models.CompositePrimaryKey("session_id", "seq")
    tenant = models.ForeignKey(
        "sessions_app.Tenant", models.PROTECT, db_constraint=False, db_index=False, related_name="+"
    )
    session = models.ForeignKey(
        "sessions_app.Session", models.PROTECT, db_constraint=False, db_index=False, related_name="messages"
    )
    seq = models.PositiveBigIntegerField()
    public_id = PublicIdField()
    role = models.CharField(max_length=16)
    at = models.DateTimeField()
    raw = models.BinaryField()
    envelope = models.BinaryField(null=True)
    tool_call_id = models.TextField(null=True)
    call_ids = ArrayField(models.TextField(), null=True)
    written_by = models.CharField(max_length=200)

    objects = MessageQuerySet.as_manager()

    class Meta:
        constraints = [
            UniqueConstraint(fields=["session", "public_id"], name="message_id_taken"),
            SameTenant(field="session", to="sessions_app_session", name="message_session_same_tenant"),
            CheckConstraint(condition=Q(role__in=ROLES), name="message_role"),
            CheckConstraint(condition=Q(seq__gt=0), name="message_seq_from_one"),
        ]


class RenderedMessage(models.Model):
    """The transcript's HTML of one message, made when it is first shown. It holds nothing per user or time."""

    pk = models.CompositePrimaryKey("session_id", "seq")
    session = models.ForeignKey(
        "sessions_app.Session", models.CASCADE, db_index=False, related_name="rendered_messages"
    )
    seq = models.PositiveBigIntegerField()
    renderer = models.CharField(max_length=32)  # version of the code that made it
    html = models.TextField()
