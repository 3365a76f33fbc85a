"""Rows for tests, made by the product's own actions."""

import itertools
import json
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.test import Client

from sessions_app.access.actions import add_member, create_user
from sessions_app.access.models import User
from sessions_app.access.rules import command
from sessions_app.hierarchy.actions import create_project, create_session, create_tenant, spawn_session
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.wire.times import now_ms
from stores_app.session.actions import NewMessage, append_message
from stores_app.session.rules import read_message

# The usual hasher is slow on purpose; hundreds of tests make a person.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

BY = command("tests")
PASSWORD = "a long enough password"
_numbers = itertools.count(1)


def at(minutes_ago: float = 0) -> datetime:
    """The present or a while before it."""
    return now_ms() - timedelta(minutes=minutes_ago)


def make_tenant(name: str | None = None, **kwargs: Any) -> Tenant:
    """A tenant named `Tenant 7`, or as given."""
    return create_tenant(name=name or f"Tenant {next(_numbers)}", **{"by": BY, "now": at(), **kwargs})


def make_project(tenant: Tenant | None = None, name: str | None = None, **kwargs: Any) -> Project:
    """A project; without a tenant in one of its own."""
    values = {"by": BY, "now": at(), **kwargs}
    return create_project(tenant=tenant or make_tenant(), name=name or f"Project {next(_numbers)}", **values)


def user_actor(tenant: Tenant, ref: str = "usr_mira") -> dict[str, Any]:
    return {"kind": "user", "userId": ref, "tenantId": tenant.public_id}


def agent_actor(tenant: Tenant, ref: str = "agt_planner") -> dict[str, Any]:
    return {"kind": "agent", "agentId": ref, "tenantId": tenant.public_id}


def make_session(project: Project | None = None, *, status: str = "idle", **kwargs: Any) -> Session:
    """A root session owned by a person; `status` is set past the rules."""
    project = project or make_project()
    values = {"current_actor": user_actor(project.tenant), "by": BY, "now": at(), **kwargs}
    return _at_status(create_session(project=project, **values), status)


def make_child(parent: Session, *, status: str = "idle", kind: str = "agent_spawn", **kwargs: Any) -> SubSession:
    """An edge with its child session, owned by an agent; `status` is the child's, set past the rules."""
    tenant = parent.tenant
    values = {
        "current_actor": agent_actor(tenant), "spawned_by": user_actor(tenant), "by": BY, "now": at(), **kwargs
    }  # fmt: skip
    edge = spawn_session(parent=parent, kind=kind, **values)
    _at_status(edge.child, status)
    return edge


def say(session: Session, content: str, *, role: str = "user", now: datetime | None = None) -> None:
    """Appends a message to the session, as whoever owns it."""
    raw = json.dumps({"role": role, "content": content}).encode()
    append_message(
        tenant_id=session.tenant_id,
        session_id=session.public_id,
        message=NewMessage(raw=raw, facts=read_message(raw)),
        by=BY,
        actor=session.current_actor,
        now=now or at(),
    )


def make_user(tenant: Tenant | None = None, role: str = "operator", **kwargs: Any) -> User:
    """A person with the PASSWORD above, a member of the tenant if one is given."""
    values = {"username": f"person{next(_numbers)}", "password": PASSWORD, "by": BY, "now": at(), **kwargs}
    user = create_user(**values)
    if tenant is not None:
        add_member(tenant_id=tenant.pk, user=user, role=role, by=BY, now=at())
    return user


def signed_in(user: User) -> Client:
    """A client in which this person is signed in."""
    client = Client()
    client.force_login(user)
    return client


def _at_status(session: Session, status: str) -> Session:
    if status != session.status:
        Session.objects.filter(pk=session.pk).update(status=status)
        session.status = status
    return session
