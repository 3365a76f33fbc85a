"""manage.py create_tenant: a new tenant."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from namzu_site.management.arguments import checked_name
from sessions_app.access.rules import command
from sessions_app.hierarchy.actions import create_tenant
from sessions_app.hierarchy.errors import IdTaken
from sessions_app.ids import BadId, check_id
from sessions_app.wire.times import now_ms


class Command(BaseCommand):
    help = "Makes a tenant and prints its id, alone on the last line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what people call it")
        parser.add_argument("--id", help="its id (tnt_…); one is made where none is given")

    def handle(self, *_: Any, name: str, id: str | None, **__: Any) -> None:  # noqa: A002 - the option's name
        """The tenant is made and its id is the last line printed; raises CommandError for a bad or taken id."""
        try:
            tenant = create_tenant(
                name=checked_name(name, "The name"),
                public_id=None if id is None else check_id("tnt", id),
                by=command("create_tenant"),
                now=now_ms(),
            )
        except BadId as error:
            raise CommandError(f"--id {id}: {error}") from None
        except IdTaken as error:
            raise CommandError(f"--id {id}: {error.message}") from None
        self.stdout.write(tenant.public_id)
