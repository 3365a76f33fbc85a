"""manage.py list_api_keys: which keys there are."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from namzu_site.management.arguments import tenant_named
from sessions_app.access.models import ApiKey
from sessions_app.hierarchy.rules import ACTOR_REFS

_HEAD = ("key id", "opens", "name", "scope", "actor", "created", "last used", "expires", "revoked")


class Command(BaseCommand):
    help = "Lists the API keys, newest first: of a tenant, of the platform, or all. Times are UTC."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", nargs="?", metavar="TENANT_ID", help="only keys that open this tenant (tnt_…)")
        parser.add_argument("--platform", action="store_true", help="only keys that may name any tenant")

    def handle(self, *_: Any, tenant: str | None, platform: bool, **__: Any) -> None:
        """One line for each key; raises CommandError for a tenant that is not there."""
        if tenant and platform:
            raise CommandError("Name either a tenant or --platform.")
        keys = ApiKey.objects.select_related("tenant").order_by("-created_at", "-pk")
        if platform:
            keys = keys.filter(tenant=None)
        elif tenant is not None:
            keys = keys.filter(tenant=tenant_named(tenant))
        for line in _table([_HEAD, *map(_row, keys)]):
            self.stdout.write(line)


def _row(key: ApiKey) -> tuple[str, ...]:
    actor = key.actor[ACTOR_REFS[key.actor["kind"]]] if key.actor else "-"
    opens = key.tenant.public_id if key.tenant else "(platform)"
    times = (key.created_at, key.last_used_at, key.expires_at, key.revoked_at)
    return key.key_id, opens, key.name, key.scope, actor, *map(_minute, times)


def _minute(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M}" if instant else "-"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
