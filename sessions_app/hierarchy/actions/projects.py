"""The writers of tenants and projects."""

from datetime import datetime
from typing import Any

from django.db import transaction

from sessions_app.access.actions import record_audit
from sessions_app.access.rules import Principal
from sessions_app.events.actions import emit_event
from sessions_app.hierarchy.actions.rows import Check, insert
from sessions_app.hierarchy.models import Project, Tenant
from sessions_app.hierarchy.rules import PROJECT_DEFAULTS
from sessions_app.ids import new_id


@transaction.atomic
def create_tenant(*, name: str, by: Principal, now: datetime, public_id: str | None = None) -> Tenant:
    """The new tenant; raises IdTaken."""
    public_id = public_id or new_id("tnt")
    tenant = Tenant(public_id=public_id, name=name, created_at=now)
    insert(tenant, public_id)
    record_audit(tenant_id=tenant.pk, by=by, action="tenant.created", target=public_id, now=now, after={"name": name})
    return tenant


@transaction.atomic
def rename_tenant(*, tenant: Tenant, name: str, by: Principal, now: datetime) -> Tenant:
    """The tenant under its new name; its id stays."""
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    if name == tenant.name:
        return tenant
    before, tenant.name = tenant.name, name
    tenant.save(update_fields=["name"])
    record_audit(
        tenant_id=tenant.pk,
        by=by,
        action="tenant.renamed",
        target=tenant.public_id,
        now=now,
        before={"name": before},
        after={"name": name},
    )
    return tenant


@transaction.atomic
def create_project(
    *,
    tenant: Tenant,
    name: str,
    by: Principal,
    now: datetime,
    config: dict[str, Any] | None = None,
    public_id: str | None = None,
) -> Project:
    """The new project, its config filled up with the defaults (domain.md §3); raises IdTaken."""
    public_id = public_id or new_id("prj")
    project = Project(
        tenant=tenant,
        public_id=public_id,
        name=name,
        config={**PROJECT_DEFAULTS, **(config or {})},
        created_at=now,
        updated_at=now,
    )
    insert(project, public_id)
    after = {"name": name, "config": project.config}
    record_audit(tenant_id=tenant.pk, by=by, action="project.created", target=public_id, now=now, after=after)
    emit_event(
        tenant_id=tenant.pk,
        project_id=project.pk,
        root_id=None,
        kind="project.created",
        now=now,
        payload={"projectId": public_id},
    )
    return project


@transaction.atomic
def import_project(*, project: Project, by: Principal, now: datetime) -> Project:
    """The project as it was recorded elsewhere, with its own times; raises IdTaken. `project` is not saved yet."""
    project.config = {**PROJECT_DEFAULTS, **project.config}
    insert(project, project.public_id)
    tenant_id, public_id, after = project.tenant_id, project.public_id, {"name": project.name, "config": project.config}
    record_audit(tenant_id=tenant_id, by=by, action="project.imported", target=public_id, now=now, after=after)
    payload = {"projectId": public_id}
    emit_event(
        tenant_id=tenant_id, project_id=project.pk, root_id=None, kind="project.created", now=now, payload=payload
    )
    return project


@transaction.atomic
def change_project(
    *, project: Project, name: str | None, config: dict[str, Any], check: Check, by: Principal, now: datetime
) -> Project:
    """The project with its new name and with `config` laid over its config; null there goes back to the default."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    check(project)
    before = {"name": project.name, "config": project.config}
    laid_over = {**project.config, **config}
    project.config = PROJECT_DEFAULTS | {field: value for field, value in laid_over.items() if value is not None}
    project.name = project.name if name is None else name
    after = {"name": project.name, "config": project.config}
    if after == before:
        return project
    project.updated_at = now
    project.save(update_fields=["name", "config", "updated_at"])
    record_audit(
        tenant_id=project.tenant_id,
        by=by,
        action="project.changed",
        target=project.public_id,
        now=now,
        before=before,
        after=after,
    )
    emit_event(
        tenant_id=project.tenant_id,
        project_id=project.pk,
        root_id=None,
        kind="project.changed",
        now=now,
        payload={"projectId": project.public_id},
    )
    return project
