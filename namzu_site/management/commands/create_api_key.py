"""manage.py create_api_key: a new bearer key for the API."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from namzu_site.management.arguments import checked_name, tenant_named
from sessions_app.access.actions import create_api_key
from sessions_app.access.rules import SCOPES, Scope, command
from sessions_app.hierarchy.models import Tenant
from sessions_app.hierarchy.rules import ACTOR_REFS, BadActor, check_actor
from sessions_app.wire.times import now_ms

_KINDS = {"usr": "user", "agt": "agent", "sys": "system"}
_MAX_DAYS = 36_500


class Command(BaseCommand):
    help = (
        "Makes an API key and prints it, alone on the last line; it cannot be shown again. "
        "KEY=$(manage.py create_api_key tnt_… --name ci | tail -n 1) keeps it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", nargs="?", metavar="TENANT_ID", help="the tenant it opens (tnt_…)")
        parser.add_argument(
            "--platform", action="store_true", help="instead of a tenant: a key that may name any tenant"
        )
        parser.add_argument("--name", required=True, help="what it is for, shown in lists")
        parser.add_argument("--scope", choices=SCOPES, default="runner", help="what it may do (default: %(default)s)")
        parser.add_argument("--expires-in-days", type=int, metavar="N", help="it stops working then (default: never)")
        parser.add_argument("--actor", metavar="usr_…|agt_…|sys_…", help="who acts where it is used")

    def handle(self, *_: Any, tenant: str | None, **options: Any) -> None:
        """The key is made and its text is the last line printed; raises CommandError naming what does not fit."""
        owner = _tenant(tenant, options["platform"])
        now = now_ms()
        text = create_api_key(
            tenant_id=owner.pk if owner else None,
            name=checked_name(options["name"], "--name"),
            scope=Scope.of(options["scope"]),
            actor=_actor(options["actor"], owner),
            expires_at=now + _lifetime(options["expires_in_days"]) if options["expires_in_days"] is not None else None,
            by=command("create_api_key"),
            now=now,
        )[1]
        self.stdout.write(text)


def _tenant(public_id: str | None, platform: bool) -> Tenant | None:
    if platform == bool(public_id):
        raise CommandError("Name either a tenant or --platform.")
    return None if public_id is None else tenant_named(public_id)


def _lifetime(days: int) -> timedelta:
    if not 1 <= days <= _MAX_DAYS:
        raise CommandError(f"--expires-in-days {days}: expected 1 to {_MAX_DAYS}.")
    return timedelta(days=days)


def _actor(ref: str | None, tenant: Tenant | None) -> dict[str, Any] | None:
    if ref is None:
        return None
    if tenant is None:
        raise CommandError("--actor goes with a tenant: an actor belongs to one.")
    kind = _KINDS.get(ref.partition("_")[0], "user")
    try:
        return check_actor({"kind": kind, ACTOR_REFS[kind]: ref, "tenantId": tenant.public_id}, tenant.public_id)
    except BadActor:
        raise CommandError(f"--actor {ref}: expected usr_, agt_ or sys_ and 1 to 196 printable characters.") from None
