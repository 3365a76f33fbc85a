"""Flows that need more than one layer."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sessions_app.access.rules import Principal
from sessions_app.hierarchy import actions
from sessions_app.hierarchy.models import Session
from stores_app.session.actions import delete_messages


def delete_session(*, session: Session, check: Callable[[Any], None], by: Principal, now: datetime) -> None:
    """The session is gone with its messages; raises SessionHasSubSessions (domain.md §16)."""
    actions.delete_session(session=session, check=check, forget_kept=delete_messages, by=by, now=now)
