"""manage.py rename_tenant: another name for a tenant."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from namzu_site.management.arguments import checked_name, tenant_named
from sessions_app.access.rules import command
from sessions_app.hierarchy.actions import rename_tenant
from sessions_app.wire.times import now_ms


class Command(BaseCommand):
    help = "Gives a tenant another name; its id, and with it all addresses and keys, stays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", metavar="TENANT_ID", help="the tenant (tnt_…)")
        parser.add_argument("name", help="what people call it from now on")

    def handle(self, *_: Any, tenant: str, name: str, **__: Any) -> None:
        """The tenant has the name; raises CommandError."""
        renamed = rename_tenant(
            tenant=tenant_named(tenant), name=checked_name(name, "The name"), by=command("rename_tenant"), now=now_ms()
        )
        self.stdout.write(f"{renamed.public_id} is {renamed.name}.")
