"""manage.py revoke_api_key: a key opens nothing any more."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sessions_app.access.actions import revoke_api_key
from sessions_app.access.models import ApiKey
from sessions_app.access.rules import command
from sessions_app.wire.authentication import CACHE_SECONDS
from sessions_app.wire.times import now_ms


class Command(BaseCommand):
    help = f"Revokes an API key; within {CACHE_SECONDS} seconds all processes refuse it. It cannot be taken back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("key", metavar="KEY_ID", help="as `list_api_keys` shows it, with or without nmz_")

    def handle(self, *_: Any, key: str, **__: Any) -> None:
        """The key is revoked, now or since before; raises CommandError where there is none."""
        key_id = key.removeprefix("nmz_").partition("_")[0]  # of a whole key the secret is not looked at
        found = ApiKey.objects.filter(key_id=key_id).first()
        if found is None:
            raise CommandError(f"There is no API key {key_id}. manage.py list_api_keys shows them.")
        revoked = revoke_api_key(key=found, by=command("revoke_api_key"), now=now_ms())
        self.stdout.write(
            f"{revoked.key_id} ({revoked.name}) is revoked since {revoked.revoked_at:%Y-%m-%d %H:%M} UTC."
        )
