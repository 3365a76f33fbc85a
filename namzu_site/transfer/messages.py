"""The messages of one session, from its file to its rows: only what comes behind the known ones is added."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice

from namzu_site.transfer.report import Findings
from namzu_site.transfer.tree import file_in
from sessions_app.access.rules import Principal
from stores_app.disk import (
    MESSAGES_FILE,
    DamagedRecord,
    Folder,
    MessageRecord,
    NewerRecord,
    RefusedFile,
    SessionRecord,
    read_message_line,
)
from stores_app.session.actions import NewMessage, copy_messages
from stores_app.session.models import Message

_AT_ONCE = 1000
_KNOWN_AT_ONCE = 5000


class Diverged(Exception):
    """The file holds another message than is known at this place."""

    def __init__(self, seq: int) -> None:
        super().__init__(seq)
        self.seq = seq


@dataclass
class MessageFile:
    """The usable messages of a session's file, in order; what is not usable goes to `findings`.

    With `without_repeats` the second message of an id is left out and reported. That takes a list of all ids, so it is
    done only where the first, cheaper attempt met one.
    """

    folder: Folder
    session: SessionRecord
    without_repeats: bool = False
    findings: Findings = field(default_factory=Findings)
    count: int = 0
    last_at: datetime | None = None
    first_user_line: str | None = None

    def __iter__(self) -> Iterator[NewMessage]:
        """Raises NewerRecord: the session is refused with it (domain.md §14)."""
        seen: set[str] = set()
        for line, record in self._records():
            if self.without_repeats:
                if record.id in seen:
                    self._leave_out(line, "id", f"{record.id} is there already; the first one is kept", "duplicate")
                    continue
                seen.add(record.id)
            self.count += 1
            self.last_at = record.at
            self.first_user_line = self.first_user_line or record.facts.user_line
            yield NewMessage(
                raw=record.raw, facts=record.facts, public_id=record.id, at=record.at, envelope=record.envelope
            )

    def _records(self) -> Iterator[tuple[int, MessageRecord]]:
        file = file_in(self.folder, MESSAGES_FILE)
        try:
            for line in self.folder.lines(MESSAGES_FILE):
                if line.data == b"":
                    continue
                try:
                    record = read_message_line(line, file)
                except NewerRecord:
                    raise
                except DamagedRecord as damage:
                    self.findings.add_damage(damage)
                    continue
                if self._belongs_here(line.number, record):
                    yield line.number, record
        except RefusedFile as refusal:
            self.findings.add_damage(refusal)

    def _belongs_here(self, line: int, record: MessageRecord) -> bool:
        if record.tenant_id != self.session.tenant_id:
            self._leave_out(line, "tenantId", f"{record.tenant_id} is not the session's tenant", "isolation")
        elif record.session_id != self.session.id:
            self._leave_out(line, "sessionId", f"{record.session_id} is not this session", "damaged")
        else:
            return True
        return False

    def _leave_out(self, line: int, place: str, reason: str, kind: str) -> None:
        self.findings.add(file_in(self.folder, MESSAGES_FILE), f"line {line}: {place}", reason, kind)


def behind_known(messages: Iterator[NewMessage], session_pk: int) -> Iterator[NewMessage]:
    """What follows on the messages that are known here; raises Diverged where these are others than in the file."""
    seq = 0
    while True:
        known = Message.objects.of_session(session_pk).after(seq).values_list("public_id", flat=True)[:_KNOWN_AT_ONCE]
        for public_id in known:
            seq += 1
            message = next(messages, None)
            if message is None:
                return
            if message.public_id != public_id:
                raise Diverged(seq)
        if len(known) < _KNOWN_AT_ONCE:
            yield from messages
            return


def write_messages(
    messages: Iterator[NewMessage], *, tenant_id: int, session_pk: int, last_seq: int, by: Principal, now: datetime
) -> int:
    """The number of the last message, all of them being written behind `last_seq`; the caller holds the session."""
    while (first := next(messages, None)) is not None:
        some = chain([first], islice(messages, _AT_ONCE - 1))
        ids = copy_messages(
            tenant_id=tenant_id, session_pk=session_pk, first_seq=last_seq + 1, messages=some, by=by, now=now
        )
        last_seq += len(ids)
    return last_seq
