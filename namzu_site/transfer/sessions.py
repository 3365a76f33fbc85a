"""One session directory: its row and its messages, in one transaction (domain.md §14)."""

from itertools import chain

from django.db import IntegrityError, connection, transaction

from namzu_site.transfer.growth import compare_session
from namzu_site.transfer.messages import MessageFile, write_messages
from namzu_site.transfer.tree import (
    LEGACY_SESSION,
    ORIGINAL_ID,
    TreeImport,
    file_in,
    kept_session_id,
    refusals_reported,
    report_missing,
    session_values,
)
from sessions_app.hierarchy.actions import import_session
from sessions_app.hierarchy.errors import IdTaken
from sessions_app.hierarchy.models import Project, Session
from stores_app.disk import (
    SESSION_FILE,
    DamagedRecord,
    Folder,
    NewerRecord,
    SessionRecord,
    read_session,
)


def take_session(tree: TreeImport, project: Project, folder: Folder, known: Session | None) -> None:
    """Takes the session in the folder, or reports why not; `known` is the row of its id, if any."""
    record = _read(tree, project, folder)
    if record is None:
        return
    with refusals_reported(tree.report.reported, file_in(folder, SESSION_FILE)):
        if known is None:
            try:
                _import(tree, project, folder, record)
                return
            except IdTaken:  # somebody else was faster, or another folder of the tree has this id here
                kept_id = kept_session_id(project.public_id, record.id)
                known = Session.objects.get(tenant=project.tenant, public_id=kept_id)
        _meet(tree, project, folder, record, known)


def _meet(tree: TreeImport, project: Project, folder: Folder, record: SessionRecord, known: Session) -> None:
    """The session, or another one, is there already."""
    clash = _clash(tree, project, record, known)
    if clash:
        tree.clashed.add((project.public_id, record.id))
        reason = f"{known.public_id} is in use {clash}; the first one is kept"
        tree.report.reported.add(file_in(folder, SESSION_FILE), "id", reason, "duplicate")
    else:
        _note_renamed(tree, project, record)
        compare_session(tree, folder, record, known)


def _clash(tree: TreeImport, project: Project, record: SessionRecord, known: Session) -> str | None:
    """Where the row of this id belongs to, if it is that of another session."""
    if known.project_id != project.pk:
        return "in another project"
    if known.public_id != kept_session_id(project.public_id, LEGACY_SESSION):
        return None
    taken_by = tree.renamed.get(project.public_id, record.id)
    original, mine = (extra.get(ORIGINAL_ID) for extra in (known.extra, session_values(record)["extra"]))
    return None if taken_by == record.id and original == mine else f"for {original or known.public_id}"


def _note_renamed(tree: TreeImport, project: Project, record: SessionRecord) -> None:
    legacy_id = kept_session_id(project.public_id, LEGACY_SESSION)
    if kept_session_id(project.public_id, record.id) == legacy_id:
        tree.renamed[project.public_id] = record.id


def _read(tree: TreeImport, project: Project, folder: Folder) -> SessionRecord | None:
    file, findings = file_in(folder, SESSION_FILE), tree.report.reported
    try:
        data = folder.read(SESSION_FILE)
        if data is None:
            report_missing(findings, folder.path, SESSION_FILE)
            return None
        record = read_session(data, file)
    except DamagedRecord as damage:
        findings.add_damage(damage)
        return None
    if record.tenant_id != project.tenant.public_id:
        findings.add(file, "tenantId", f"{record.tenant_id} is not the project's tenant", "isolation")
    elif record.id != folder.path.name:
        findings.add(file, "id", f"{record.id} is not the name of its folder", "damaged")
    elif record.project_id != project.public_id:
        findings.add(file, "projectId", f"{record.project_id} is not the project it lies in", "damaged")
    else:
        return record
    return None


def _import(tree: TreeImport, project: Project, folder: Folder, record: SessionRecord) -> None:
    """Writes a session that is not known yet."""
    messages = MessageFile(folder, record)
    try:
        try:
            session = _write(tree, project, record, messages)
        except IntegrityError:  # an id that occurs twice: once more, with a list of the ids
            messages = MessageFile(folder, record, without_repeats=True)
            session = _write(tree, project, record, messages)
    except NewerRecord as newer:
        tree.report.reported.add_damage(newer)
        return
    _note_renamed(tree, project, record)
    tree.report.sessions.imported += 1
    tree.report.messages.imported += session.last_seq
    tree.report.reported.extend(messages.findings)


@transaction.atomic
def _write(tree: TreeImport, project: Project, record: SessionRecord, messages: MessageFile) -> Session:
    session = _row(tree, project, record)
    stream = iter(messages)
    first = next(stream, None)
    if first is not None:
        with connection.cursor() as cursor:  # the messages come first, so that the row is written once
            cursor.execute("SET CONSTRAINTS message_session_same_tenant DEFERRED")
        session.last_seq = write_messages(
            chain([first], stream),
            tenant_id=project.tenant_id,
            session_pk=session.pk,
            last_seq=0,
            by=tree.by,
            now=tree.now,
        )
    session.last_message_at = messages.last_at
    session.first_user_line = messages.first_user_line
    return import_session(session=session, by=tree.by, now=tree.now)


def _row(tree: TreeImport, project: Project, record: SessionRecord) -> Session:
    return Session(
        pk=tree.fresh_key(),
        tenant_id=project.tenant_id,
        project=project,
        public_id=kept_session_id(project.public_id, record.id),
        **session_values(record),
    )
