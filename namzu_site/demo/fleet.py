"""Fills the demo tenant from the plans, through the same actions as everything else."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from namzu_site.demo.deployments import DEPLOYMENTS
from namzu_site.demo.papers import PAPERS
from namzu_site.demo.shapes import TENANT_ID, TENANT_NAME, Node, ProjectPlan
from namzu_site.demo.shop import SHOP
from namzu_site.demo.transcripts import messages_of
from sessions_app.access.rules import Principal
from sessions_app.hierarchy.actions import create_project, create_session, create_tenant, link_session
from sessions_app.hierarchy.models import Project, Session, SubSession
from stores_app.session.actions import NewMessage, append_messages
from stores_app.session.rules import read_message

PLANS = (SHOP, PAPERS, DEPLOYMENTS)
_BATCH = 500
_PACE = timedelta(seconds=41)  # between two messages of what is over
_GOING_ON = {"active", "awaiting_hitl", "awaiting_merge"}


def count_sessions() -> int:
    """How many sessions the demo fleet has."""
    return sum(tree.count() for plan in PLANS for tree in plan.trees)


@transaction.atomic
def fill(*, by: Principal, now: datetime, on_session: Callable[[], None]) -> None:
    """The demo tenant is there with all its sessions, or nothing is; raises IdTaken where it was there before.

    `on_session` is called after each session.
    """
    tenant = create_tenant(
        name=TENANT_NAME, public_id=TENANT_ID, by=by, now=now - max(plan.began for plan in PLANS) - timedelta(hours=1)
    )
    for plan in PLANS:
        project = create_project(
            tenant=tenant,
            name=plan.title,
            config=plan.config,
            public_id=f"prj_demo_{plan.name}",
            by=by,
            now=now - plan.began,
        )
        for tree in plan.trees:
            _Filler(project, by, now, on_session).plant(tree, None)
        _date_project(plan, project, now)


def _date_project(plan: ProjectPlan, project: Project, now: datetime) -> None:
    Project.objects.filter(pk=project.pk).update(updated_at=now - min(tree.began for tree in plan.trees))


class _Filler:
    """Writes the sessions of one project."""

    def __init__(self, project: Project, by: Principal, now: datetime, on_session: Callable[[], None]) -> None:
        self.project = project
        self.by = by
        self.now = now
        self.on_session = on_session

    def plant(self, node: Node, parent: tuple[Node, Session] | None) -> None:
        """The session and all below it."""
        session = create_session(
            project=self.project,
            current_actor=node.owner,
            label=node.label,
            public_id=f"ses_demo_{node.name}",
            by=self.by,
            now=self.now - node.began,
        )
        edge = self._link(node, session, *parent) if parent else None
        told = self._tell(node, session)
        self._settle(node, session, edge, told)
        self.on_session()
        for child in node.children:
            self.plant(child, (node, session))

    def _link(self, node: Node, session: Session, parent_node: Node, parent: Session) -> SubSession:
        """The edge, made as if it had been spawned: ids of ours make URLs that are the same everywhere."""
        plan, at = node.edge, self.now - node.began
        edge = SubSession(
            tenant_id=parent.tenant_id,
            public_id=f"sub_demo_{node.name}",
            parent_id=parent.pk,
            child_id=session.pk,
            kind=plan.kind,
            spawned_by=parent_node.owner or {"kind": "system", "role": "sys_demo", "tenantId": TENANT_ID},
            spawned_at=at,
            failure_mode=plan.failure_mode,
            completion_mode=plan.completion_mode,
            broadcast_group_id=plan.broadcast,
            prev_artifact_ref=plan.answers and _file(node.name, plan.answers),
            updated_at=at,
        )
        return link_session(edge=edge, by=self.by, now=at)

    def _tell(self, node: Node, session: Session) -> datetime:
        """When the last message was said; the messages are there."""
        bodies = messages_of(node)
        began, longest = self.now - node.began, node.began / (len(bodies) + 1)
        pace = longest if node.status in _GOING_ON else min(_PACE, longest)
        messages = [self._message(node, body, place, began + pace * place) for place, body in enumerate(bodies, 1)]
        for first in range(0, len(messages), _BATCH):
            batch = messages[first : first + _BATCH]
            append_messages(
                tenant_id=session.tenant_id,
                session_id=session.public_id,
                messages=batch,
                by=self.by,
                actor=node.owner,
                now=batch[-1].at or self.now,
            )
        return messages[-1].at or self.now if messages else began

    def _message(self, node: Node, body: dict[str, Any], place: int, at: datetime) -> NewMessage:
        at = at.replace(microsecond=at.microsecond // 1000 * 1000)
        if "timestamp" in body:
            body = {**body, "timestamp": int(at.timestamp() * 1000)}
        raw = json.dumps(body, ensure_ascii=False).encode()
        return NewMessage(raw=raw, facts=read_message(raw), public_id=f"msg_demo_{node.name}_{place:04d}", at=at)

    def _settle(self, node: Node, session: Session, edge: SubSession | None, at: datetime) -> None:
        """Statuses and owners as the plan has them; no action leads to all of these by itself."""
        archived = edge is not None and node.edge.status == "archived"
        Session.objects.filter(pk=session.pk).update(
            status=node.status,
            previous_actors=list(node.previous),
            owner_version=len(node.previous),
            sealed_at=at if archived else None,
            updated_at=at,
        )
        if edge is not None:
            SubSession.objects.filter(pk=edge.pk).update(
                status=node.edge.status,
                archive_ref=f"arc_demo_{node.name}" if archived else None,
                archived_at=at if archived else None,
                updated_at=at,
            )


def _file(name: str, path: str) -> dict[str, Any]:
    return {"id": f"del_demo_{name}", "kind": "file", "path": path, "contentHash": "0" * 64, "sizeBytes": 5120}
