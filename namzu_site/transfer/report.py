"""What an import did: counts by kind, and every thing that was left out with file, place and reason."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import Any, TypedDict

from stores_app.disk import DamagedRecord

_IN_MEMORY_BYTES = 64 * 1024


class Finding(TypedDict):
    """One thing that was left out; `kind` is a word to sort by."""

    file: str
    place: str
    reason: str
    kind: str


class Findings:
    """Findings in the order they were made; many of them go to a file that vanishes with this object."""

    def __init__(self) -> None:
        self._spool = SpooledTemporaryFile[bytes](_IN_MEMORY_BYTES)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Finding]:
        """From the first one on; nothing may be added meanwhile."""
        self._spool.seek(0)
        for line in self._spool:
            yield json.loads(line)
        self._spool.seek(0, 2)

    def add(self, file: str, place: str, reason: str, kind: str) -> None:
        finding = Finding(file=file, place=place, reason=reason, kind=kind)
        self._spool.write(json.dumps(finding).encode() + b"\n")
        self._count += 1

    def add_damage(self, damage: DamagedRecord) -> None:
        self.add(damage.file, damage.place, damage.reason, damage.kind)

    def extend(self, others: "Findings") -> None:
        for other in others:
            self.add(**other)


@dataclass
class Counts:
    """What became of the records of one kind.

    `imported` are new, `unchanged` were known as they are, `added` have grown (of messages: came with the growth), and
    `differs` are known but not like this, and were left as they are here.
    """

    imported: int = 0
    unchanged: int = 0
    added: int = 0
    differs: int = 0


@dataclass
class ImportReport:
    """The outcome of one import of a tree."""

    root: str
    tenants: Counts = field(default_factory=Counts)
    projects: Counts = field(default_factory=Counts)
    sessions: Counts = field(default_factory=Counts)
    messages: Counts = field(default_factory=Counts)
    sub_sessions: Counts = field(default_factory=Counts)
    not_yet: Counter[str] = field(default_factory=Counter)
    ignored: int = 0
    reported: Findings = field(default_factory=Findings)

    @property
    def is_legacy(self) -> bool:
        """Whether there is nothing but the legacy layout, of which nothing can be taken."""
        return bool(self.not_yet["legacyThreads"]) and all(counts == Counts() for counts in self.counts().values())

    @property
    def is_complete(self) -> bool:
        """Whether everything came in that can be imported so far, and that is not nothing at all."""
        return not len(self.reported) and not self.is_legacy

    def counts(self) -> dict[str, Counts]:
        """By the names they have on the wire."""
        return {
            "tenants": self.tenants,
            "projects": self.projects,
            "sessions": self.sessions,
            "messages": self.messages,
            "subSessions": self.sub_sessions,
        }

    def as_json(self) -> dict[str, Any]:
        """The report without its findings, as `--json` prints it."""
        return {
            "root": self.root,
            "complete": self.is_complete,
            "counts": {name: vars(counts) for name, counts in self.counts().items()},
            "notYet": dict(sorted(self.not_yet.items())),
            "ignored": self.ignored,
        }
