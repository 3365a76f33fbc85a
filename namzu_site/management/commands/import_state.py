"""Imports a runtime's tree: `import_state DIR [--json]`."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from namzu_site.database.readiness import pending_migrations
from namzu_site.transfer.actions import import_tree
from namzu_site.transfer.report import Findings, ImportReport
from sessions_app.access.rules import command
from sessions_app.wire.times import now_ms
from stores_app.disk import NotATree

LEFT_OUT, UNUSABLE, INTERRUPTED = 1, 2, 130
_SHOWN_FINDINGS = 30


class Command(BaseCommand):
    """Exit code 0: everything that can be imported so far came in; 1: something was left out, the report says what;
    2: the folder cannot be used; 130: interrupted."""

    help = (
        "Imports the on-disk state of a runtime: DIR holds projects/, or is the parent of a .namzu that does. "
        "It can be repeated at any time: what is there already stays, what is new is added."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, folder: Path, json: bool, **options: Any) -> None:
        if pending_migrations():
            raise CommandError("The database is not prepared yet: run `manage.py prepare` first.", returncode=UNUSABLE)
        with _Display() as display:
            try:
                report = import_tree(folder, by=command("import_state"), now=now_ms(), progress=display)
            except NotATree as error:
                raise CommandError(error.message, returncode=UNUSABLE) from None
            except OSError as error:
                raise CommandError(f"{folder} cannot be read: {error.strerror}.", returncode=UNUSABLE) from None
            except KeyboardInterrupt:
                raise CommandError(
                    f"Interrupted: {display.reached}. What came in stays; run it again to go on.",
                    returncode=INTERRUPTED,
                ) from None
        if json:
            _write_json(report)
        else:
            _write_table(report)
        if not report.is_complete:
            sys.exit(LEFT_OUT)


class _Display:
    """Bars on a terminal's stderr, and in any case how far it has come."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = Bars(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bars.add_task("Sessions", total=None)
        self._sessions = self._sessions_done = self._links = self._links_done = 0

    def __enter__(self) -> "_Display":
        self._bars.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._bars.stop()

    @property
    def reached(self) -> str:
        """How far the import has come, in words."""
        words = f"{self._sessions_done:,} of {self._sessions:,} sessions"
        return f"{words} and {self._links_done:,} of {self._links:,} links between them" if self._links else words

    def total(self, sessions: int) -> None:
        self._sessions = sessions
        self._bars.update(self._task, total=sessions)

    def session_done(self) -> None:
        self._sessions_done += 1
        self._bars.advance(self._task)

    def linking(self, sub_sessions: int) -> None:
        self._links = sub_sessions
        self._task = self._bars.add_task("Links", total=sub_sessions)

    def link_done(self) -> None:
        self._links_done += 1
        self._bars.advance(self._task)


def _write_json(report: ImportReport) -> None:
    """The report as one JSON object, its findings one by one: there may be more of them than fit in memory."""
    head = json.dumps(report.as_json(), indent=2).removesuffix("\n}")
    sys.stdout.write(head + ',\n  "reported": [')
    for index, finding in enumerate(report.reported):
        sys.stdout.write((",\n    " if index else "\n    ") + json.dumps(finding))
    sys.stdout.write("\n  ]\n}\n" if len(report.reported) else "]\n}\n")


def _write_table(report: ImportReport) -> None:
    console = Console(soft_wrap=True, highlight=False)
    console.print(Text(f"Imported from {report.root}"))
    console.print(_counts(report))
    if report.not_yet:
        kinds = ", ".join(f"{count:,} {_words(kind)}" for kind, count in sorted(report.not_yet.items()))
        console.print(Text(f"Not imported yet: {kinds}."))
    if report.is_legacy:
        console.print(
            Text("Nothing was imported: all there is lies in threads/, the legacy layout, which cannot be yet.")
        )
    elif "legacyThreads" in report.not_yet:
        console.print(Text("threads/ is the legacy layout, which cannot be imported yet."))
    if report.ignored:
        console.print(Text(f"Ignored: {report.ignored:,} temporary files."))
    if len(report.reported):
        _write_findings(console, report.reported)


def _counts(report: ImportReport) -> Table:
    table = Table("", "imported", "added", "unchanged", "differs")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, counts in report.counts().items():
        numbers = (counts.imported, counts.added, counts.unchanged, counts.differs)
        table.add_row(_words(kind), *(f"{number:,}" for number in numbers))
    return table


def _write_findings(console: Console, findings: Findings) -> None:
    console.print(Text(f"Left out: {len(findings):,}"))
    for index, finding in enumerate(findings):
        if index < _SHOWN_FINDINGS:
            place = f" ({finding['place']})" if finding["place"] else ""
            console.print(Text(_visible(f"  {finding['file']}{place}: {finding['reason']}")))
    if len(findings) > _SHOWN_FINDINGS:
        console.print(Text(f"  and {len(findings) - _SHOWN_FINDINGS:,} more; --json lists them all"))


def _words(name: str) -> str:
    """`subSessions` as it is said: sub-sessions."""
    known = {"subSessions": "sub-sessions"}
    return known.get(name) or "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


def _visible(text: str) -> str:
    """The text without anything that could steer a terminal: names of files come from elsewhere."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
