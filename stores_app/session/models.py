"""Messages of a session, kept verbatim (domain.md §3)."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.db.models.expressions import RawSQL

from sessions_app.tenancy import PublicIdField, SameTenant, TenantQuerySet
from stores_app.session.rules import ROLES


class MessageQuerySet(TenantQuerySet["Message"]):
    """The read side of messages."""

    def of_session(self, session_id: int) -> Self:
        return self.filter(session_id=session_id).order_by("seq")

    def after(self, seq: int) -> Self:
        return self.filter(seq__gt=seq)

    def before(self, seq: int) -> Self:
        """What stands before this number, the nearest first."""
        return self.filter(seq__lt=seq).order_by("-seq")

    def with_tools_between(self, first: int, last: int) -> Self:
        """The messages of this stretch that make or answer tool calls."""
        return self.filter(Q(call_ids__isnull=False) | Q(tool_call_id__isnull=False), seq__range=(first, last))


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


class RenderedMessageQuerySet(models.QuerySet["RenderedMessage"]):
    """The read side of rendered messages."""

    def made_by(self, renderer: str, session_id: int, seqs: list[int]) -> Self:
        """Those of these messages that this version of the renderer made."""
        # One array, so that the statement is the same for any number and stays prepared.
        wanted = RawSQL("SELECT unnest(%s::bigint[])", [seqs])
        return self.filter(session_id=session_id, renderer=renderer, seq__in=wanted)


class RenderedMessage(models.Model):
    """The transcript's HTML of one message, made when it is first shown. It holds nothing per user or time."""

    pk = models.CompositePrimaryKey("session_id", "seq")
    session = models.ForeignKey(
        "sessions_app.Session", models.CASCADE, db_index=False, related_name="rendered_messages"
    )
    seq = models.PositiveBigIntegerField()
    renderer = models.CharField(max_length=32)  # version of the code that made it
    html = models.TextField()

    objects = RenderedMessageQuerySet.as_manager()
