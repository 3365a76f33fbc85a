"""What the parts of one import share."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Protocol

import psycopg
from django.db import DataError

from namzu_site.transfer.report import Findings, ImportReport
from sessions_app.access.rules import Principal
from sessions_app.hierarchy.actions import take_keys
from sessions_app.hierarchy.models import Project
from sessions_app.ids import check_id
from sessions_app.wire.jsonb import given_back
from stores_app.disk import IGNORED, KNOWN, UNKNOWN, Folder, Found, SessionRecord, shown

LEGACY_SESSION = "ses_legacy_default"
ORIGINAL_ID = "_originalId"  # where a record keeps the name that its session had
_KEYS_AT_ONCE = 500


class Progress(Protocol):
    """Is told how far an import has come."""

    def total(self, sessions: int) -> None:
        """So many sessions lie in the tree."""

    def session_done(self) -> None:
        """One more session directory has been seen to."""

    def linking(self, sub_sessions: int) -> None:
        """All sessions are there; so many sub-sessions are to be linked."""

    def link_done(self) -> None:
        """One more sub-session has been seen to."""


@dataclass
class TreeImport:
    """One import of one tree: where from, on whose behalf, when, and what has come of it so far."""

    root: Folder
    by: Principal
    now: datetime
    report: ImportReport
    progress: Progress
    projects: dict[str, Project] = field(default_factory=dict)  # by public id, with their tenants
    tenants: set[str] = field(default_factory=set)  # those that have been counted
    renamed: dict[str, str] = field(default_factory=dict)  # by project: the folder that has the id of `LEGACY_SESSION`
    clashed: set[tuple[str, str]] = field(default_factory=set)  # project and folder of sessions whose id was taken
    _keys: list[int] = field(default_factory=list)

    def fresh_key(self) -> int:
        """A primary key for a session."""
        if not self._keys:
            self._keys = take_keys(_KEYS_AT_ONCE)[::-1]
        return self._keys.pop()

    def count_found(self, found: Iterator[Found]) -> None:
        """Counts what has no reader of its own here, and reports what nobody knows."""
        for path, kind, problem in found:
            if problem is not None:
                self.report.reported.add_damage(problem)
            elif kind == UNKNOWN:
                self.report.reported.add(path, "", "is not known here", "unknown")
            elif kind == IGNORED:
                self.report.ignored += 1
            elif kind != KNOWN:
                self.report.not_yet[kind] += 1


def file_in(folder: Folder, name: str) -> str:
    """The file's path as it is reported."""
    return shown(folder.path / name)


def kept_session_id(project_id: str, session_id: str) -> str:
    """The id a session has here: each migrated project has a session of the same name (domain.md §14).

    It may be too long for an id: see `check_kept_id`.
    """
    if session_id != LEGACY_SESSION:
        return session_id
    return "ses_legacy_" + project_id.removeprefix("prj_").removeprefix("legacy_")


def check_kept_id(project_id: str, session_id: str) -> str:
    """The id a session has here; raises BadId."""
    return check_id("ses", kept_session_id(project_id, session_id))


def report_missing(findings: Findings, folder: PurePosixPath, name: str) -> None:
    findings.add(shown(folder / name), "", "is missing", "missing")


def session_values(record: SessionRecord) -> dict[str, Any]:
    """The columns a session's record gives."""
    original = {ORIGINAL_ID: record.id} if record.id == LEGACY_SESSION else {}
    return {
        "status": record.status,
        "current_actor": record.current_actor,
        "previous_actors": record.previous_actors,
        "workspace_ref": record.workspace_id,
        "owner_version": record.owner_version,
        "extra": {**record.extra, **original},
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def differing(row: Any, values: dict[str, Any]) -> str:
    """The names of the columns in which the row is not like the record, but for how the database writes numbers."""
    return ", ".join(name for name, value in values.items() if given_back(getattr(row, name)) != given_back(value))


@contextmanager
def refusals_reported(findings: Findings, file: str) -> Iterator[None]:
    """One record that the database cannot hold is left out and told of; the rest goes on.

    The readers refuse what is known to be impossible, with its place. This is for what nobody thought of.
    """
    try:
        yield
    except (DataError, psycopg.DataError) as error:
        reason = str(error).partition("\n")[0]
        findings.add(file, "", f"the database cannot hold it: {reason}", "damaged")
