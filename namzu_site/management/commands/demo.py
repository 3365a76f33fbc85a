"""manage.py demo: a tenant with a believable fleet, to look at."""

from typing import Any

from django.core.management.base import BaseCommand
from django.urls import reverse
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from namzu_site.demo.fleet import count_sessions, fill
from namzu_site.demo.shapes import TENANT_ID
from sessions_app.access.rules import command
from sessions_app.hierarchy.errors import IdTaken
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.wire.times import now_ms
from stores_app.session.models import Message


class Command(BaseCommand):
    help = f"Fills the tenant {TENANT_ID} with a demo fleet of projects, sessions and transcripts; once is enough."

    def handle(self, *_: Any, **__: Any) -> None:
        """The demo tenant is there; run again it changes nothing."""
        try:
            if Tenant.objects.filter(public_id=TENANT_ID).exists():
                raise IdTaken(TENANT_ID)
            _fill()
            self.stdout.write("The demo fleet is ready:")
        except IdTaken:  # another process may have been quicker, too
            self.stdout.write("The demo fleet is there already, nothing was changed:")
        self._describe()

    def _describe(self) -> None:
        tenant = Tenant.objects.get(public_id=TENANT_ID)
        for rows, what in (
            (Project.objects.for_tenant(tenant.pk), "projects"),
            (Session.objects.for_tenant(tenant.pk), "sessions"),
            (SubSession.objects.for_tenant(tenant.pk), "sub-sessions"),
            (Message.objects.for_tenant(tenant.pk), "messages"),
        ):
            self.stdout.write(f"{rows.count():>7,} {what}")
        self.stdout.write(f"Look at {reverse('explorer', args=[TENANT_ID])}")


def _fill() -> None:
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("Making sessions", total=count_sessions())
        fill(by=command("demo"), now=now_ms(), on_session=lambda: progress.advance(task))
