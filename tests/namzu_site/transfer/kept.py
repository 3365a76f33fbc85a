"""What is in the database, as plain values to compare."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.db import connection, transaction

from namzu_site.transfer.actions import import_tree
from namzu_site.transfer.report import ImportReport
from sessions_app.access.models import AuditEntry
from sessions_app.access.rules import command
from sessions_app.events.models import Event
from sessions_app.hierarchy.models import Session, SubSession
from sessions_app.wire.times import now_ms
from stores_app.session.models import Message

Kept = dict[str, dict[str, Any]]


def take(folder: Path) -> ImportReport:
    return import_tree(folder, by=command("import_state"), now=now_ms())


def kept_sessions() -> Kept:
    """By public id, with their messages' numbers, ids, times and bytes; without their place in the tree."""
    columns = (
        "status", "current_actor", "previous_actors", "workspace_ref", "owner_version", "created_at", "updated_at",
        "extra", "last_seq", "last_message_at", "first_user_line", "label",
    )  # fmt: skip
    kept = {}
    for session in Session.objects.select_related("project", "tenant"):
        values = {column: getattr(session, column) for column in columns}
        messages = [
            (row.seq, row.public_id, row.role, row.at, digest(row.raw), row.envelope and digest(row.envelope))
            for row in Message.objects.of_session(session.pk)
        ]
        place = {"project": session.project.public_id, "tenant": session.tenant.public_id}
        kept[session.public_id] = {**values, **place, "messages": messages}
    return kept


def kept_edges() -> Kept:
    """By public id, with the ids of both ends and the child's place."""
    left_out = {"id", "tenant", "parent", "child"}
    columns = [field.name for field in SubSession._meta.concrete_fields if field.name not in left_out]
    return {
        edge.public_id: {
            **{column: getattr(edge, column) for column in columns},
            "ends": (edge.parent.public_id, edge.child.public_id),
            "place": (edge.child.root.public_id, edge.child.depth, edge.child.path),
        }
        for edge in SubSession.objects.select_related("parent", "child__root")
    }


def written_counts() -> tuple[int, int, int]:
    return AuditEntry.objects.count(), Event.objects.count(), Message.objects.count()


def digest(data: Any) -> str:
    return sha256(bytes(data)).hexdigest()


def without_a_trace(look: Callable[[], Any]) -> Any:
    """What `look` answers; whatever it wrote is taken back."""
    with transaction.atomic():
        answer = look()
        transaction.set_rollback(True)
    return answer


def database_url() -> str:
    """The tests' own database, for a process of its own."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(parts._replace(path=f"/{connection.settings_dict['NAME']}"))
