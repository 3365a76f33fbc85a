"""A session that is known already: what is new at its end is added, what differs is told and left as it is here."""

from dataclasses import replace

from django.db import IntegrityError, transaction

from namzu_site.transfer.messages import Diverged, MessageFile, behind_known, write_messages
from namzu_site.transfer.tree import TreeImport, differing, file_in, session_values
from sessions_app.hierarchy.models import Session
from stores_app.disk import MESSAGES_FILE, SESSION_FILE, Folder, NewerRecord, SessionRecord


def compare_session(tree: TreeImport, folder: Folder, record: SessionRecord, known: Session) -> None:
    """Counts the session as unchanged, added to or differing; a sealed one is left alone (domain.md §14)."""
    counts = tree.report.sessions
    if known.sealed_at:
        counts.unchanged += 1
        tree.report.messages.unchanged += known.last_seq
        return
    names = differing(known, session_values(record))
    if names:
        reason = f"is known with another {names}; it is left as it is here"
        tree.report.reported.add(file_in(folder, SESSION_FILE), "", reason, "differs")
    added = _catch_up(tree, folder, record, known)
    if names:
        counts.differs += 1
    elif added:
        counts.added += 1
    else:
        counts.unchanged += 1


def _catch_up(tree: TreeImport, folder: Folder, record: SessionRecord, known: Session) -> int:
    """How many messages were added. Without a lock at first: mostly there is nothing to add."""
    messages = MessageFile(folder, record)
    try:
        return _take_new(tree, messages, known)
    except (Diverged, IntegrityError):  # perhaps only because of ids that occur twice in the file
        messages = replace(messages, without_repeats=True)
    except NewerRecord as newer:
        tree.report.reported.add_damage(newer)
        return 0
    try:
        return _take_new(tree, messages, known)
    except Diverged as diverged:
        reason = f"message {diverged.seq} is known with another id; nothing of the file was added"
    except IntegrityError:
        reason = "an id behind the known messages is that of a known one; nothing of the file was added"
    tree.report.reported.add(file_in(folder, MESSAGES_FILE), "", reason, "diverged")
    return 0


def _take_new(tree: TreeImport, messages: MessageFile, known: Session) -> int:
    look = _again(messages)
    added = 0
    if next(behind_known(iter(look), known.pk), None) is not None:
        look = _again(messages)
        added = _append(tree, look, known)
    tree.report.messages.added += added
    tree.report.messages.unchanged += look.count - added
    tree.report.reported.extend(look.findings)
    return added


def _again(messages: MessageFile) -> MessageFile:
    return MessageFile(messages.folder, messages.session, messages.without_repeats)


@transaction.atomic
def _append(tree: TreeImport, messages: MessageFile, known: Session) -> int:
    session = Session.objects.select_for_update(no_key=True).get(pk=known.pk)
    if session.sealed_at:
        return 0
    before = session.last_seq
    session.last_seq = write_messages(
        behind_known(iter(messages), session.pk),
        tenant_id=session.tenant_id,
        session_pk=session.pk,
        last_seq=before,
        by=tree.by,
        now=tree.now,
    )
    if session.last_seq > before:
        session.last_message_at = messages.last_at
        session.first_user_line = session.first_user_line or messages.first_user_line
        session.save(update_fields=["last_seq", "last_message_at", "first_user_line"])
    return session.last_seq - before
