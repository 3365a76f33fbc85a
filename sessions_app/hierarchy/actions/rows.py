"""What the writers of the hierarchy share."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from sessions_app.access.rules import Principal, Scope
from sessions_app.events.actions import emit_event
from sessions_app.hierarchy.errors import AlreadyLinked, IdTaken, NotCurrentOwner, SessionArchived
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.hierarchy.rules import actor_key

# Compares the record as it is, once it is locked, with what the caller last saw; raises PreconditionFailed.
Check = Callable[[Any], None]


def insert(row: Tenant | Project | Session | SubSession, public_id: str) -> None:
    """Saves a new row; the database decides whether its id is free, so that two writers cannot both think so."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", "") or ""
        if constraint.endswith("_id_taken") or "public_id" in constraint:
            raise IdTaken(public_id) from None
        if isinstance(row, SubSession) and "child" in constraint:
            raise AlreadyLinked(row.child.public_id) from None
        raise


def check_writer(session: Session, by: Principal) -> None:
    """Raises NotCurrentOwner where the credential is bound to an actor who does not own the session (domain.md §7).

    Who may operate may write everywhere; an unbound key acts for whoever it says, so there is nothing to compare.
    """
    if session.current_actor is None or by.actor is None or by.scope >= Scope.OPERATOR:
        return
    if actor_key(by.actor) != actor_key(session.current_actor):
        raise NotCurrentOwner(sessionId=session.public_id, currentActor=session.current_actor)


def check_not_sealed(session: Session) -> None:
    """Raises SessionArchived."""
    if session.sealed_at is not None:
        raise SessionArchived(sessionId=session.public_id)


def emit_of_session(
    session: Session, kind: str, now: datetime, payload: dict[str, Any], edge: SubSession | None = None
) -> None:
    emit_event(
        tenant_id=session.tenant_id,
        project_id=session.project_id,
        root_id=session.root_id,
        kind=kind,
        now=now,
        session_id=session.pk,
        sub_session_id=edge.public_id if edge else None,
        payload=payload,
    )
