"""One project directory: its tenant and its row."""

from typing import Any

from namzu_site.transfer.tree import TreeImport, differing, file_in, refusals_reported, report_missing
from sessions_app.hierarchy.actions import create_tenant, import_project
from sessions_app.hierarchy.errors import IdTaken
from sessions_app.hierarchy.models import Project, Tenant
from sessions_app.hierarchy.rules import PROJECT_DEFAULTS
from stores_app.disk import PROJECT_FILE, DamagedRecord, Folder, ProjectRecord, read_project

_NAME_LENGTH = 200


def take_project(tree: TreeImport, folder: Folder) -> Project | None:
    """The project's row with its tenant, made where it is not known; None where its record cannot be used."""
    file, findings = file_in(folder, PROJECT_FILE), tree.report.reported
    record = _read(tree, folder)
    if record is None:
        return None
    for damage in record.damages:
        findings.add_damage(damage)
    taken = []
    with refusals_reported(findings, file):
        taken.append(_take(tree, file, record))
    return taken[0] if taken else None


def _take(tree: TreeImport, file: str, record: ProjectRecord) -> Project:
    tenant = _tenant(tree, record.tenant_id)
    known = _known(tenant, record)
    if known is None:
        try:
            return _import(tree, tenant, record)
        except IdTaken:  # somebody else was faster
            known = Project.objects.select_related("tenant").get(tenant=tenant, public_id=record.id)
    _compare(tree, file, known, record)
    return known


def _import(tree: TreeImport, tenant: Tenant, record: ProjectRecord) -> Project:
    fresh = Project(tenant=tenant, public_id=record.id, **_values(record))
    project = import_project(project=fresh, by=tree.by, now=tree.now)
    tree.report.projects.imported += 1
    return project


def _compare(tree: TreeImport, file: str, known: Project, record: ProjectRecord) -> None:
    if names := differing(known, _values(record)):
        reason = f"is known with another {names}; it is left as it is here"
        tree.report.reported.add(file, "", reason, "differs")
        tree.report.projects.differs += 1
    else:
        tree.report.projects.unchanged += 1


def _read(tree: TreeImport, folder: Folder) -> ProjectRecord | None:
    file, findings = file_in(folder, PROJECT_FILE), tree.report.reported
    try:
        data = folder.read(PROJECT_FILE)
        if data is None:
            report_missing(findings, folder.path, PROJECT_FILE)
            return None
        record = read_project(data, file)
    except DamagedRecord as damage:
        findings.add_damage(damage)
        return None
    if record.id != folder.path.name:
        findings.add(file, "id", f"{record.id} is not the name of its folder", "damaged")
        return None
    return record


def _values(record: ProjectRecord) -> dict[str, Any]:
    """The columns a project's record gives; of a name that is too long for its column the whole is kept beside it."""
    whole = {"name": record.name} if len(record.name) > _NAME_LENGTH else {}
    return {
        "name": record.name[:_NAME_LENGTH],
        "config": {**PROJECT_DEFAULTS, **record.config},
        "extra": {**record.extra, **whole},
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _known(tenant: Tenant, record: ProjectRecord) -> Project | None:
    return Project.objects.select_related("tenant").filter(tenant=tenant, public_id=record.id).first()


def _tenant(tree: TreeImport, public_id: str) -> Tenant:
    tenant = Tenant.objects.filter(public_id=public_id).first()
    if tenant is None:
        try:
            tenant = create_tenant(name=public_id, public_id=public_id, by=tree.by, now=tree.now)
            tree.report.tenants.imported += 1
            tree.tenants.add(public_id)
        except IdTaken:  # somebody else was faster
            tenant = Tenant.objects.get(public_id=public_id)
    if public_id not in tree.tenants:
        tree.report.tenants.unchanged += 1
        tree.tenants.add(public_id)
    return tenant
