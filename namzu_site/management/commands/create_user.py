"""manage.py create_user: a new person who may sign in."""

import secrets
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError, transaction

from namzu_site.management.arguments import tenant_named
from sessions_app.access.actions import add_member, create_user
from sessions_app.access.models import User
from sessions_app.access.rules import ROLE_SCOPES, command
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.times import now_ms

_PASSWORD_BYTES = 18  # 144 bits, 24 characters


class Command(BaseCommand):
    help = "Makes a person who may sign in, as a member of one tenant or as a platform administrator."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="what they type to sign in")
        parser.add_argument("--tenant", metavar="TENANT_ID", help="the tenant they work in (tnt_…)")
        parser.add_argument("--role", choices=list(ROLE_SCOPES), help="what they may do there")
        parser.add_argument("--platform-admin", action="store_true", help="instead: everything, everywhere")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from the first line of standard input"
        )

    def handle(self, *_: Any, username: str, **options: Any) -> None:
        """The person is made; a password made here is the last line printed. Raises CommandError."""
        _check_username(username)
        tenant = _tenant(options["tenant"], options["role"], options["platform_admin"])
        given = _read_password(username) if options["password_stdin"] else None
        password = given or secrets.token_urlsafe(_PASSWORD_BYTES)
        _create(username, password, tenant, options["role"])
        self.stdout.write(f"{username} may sign in.")
        if given is None:
            self.stdout.write(password)


def _create(username: str, password: str, tenant: Tenant | None, role: str | None) -> None:
    by, now = command("create_user"), now_ms()
    try:
        with transaction.atomic():
            user = create_user(username=username, password=password, platform_admin=tenant is None, by=by, now=now)
            if tenant is not None and role is not None:
                add_member(tenant_id=tenant.pk, user=user, role=role, by=by, now=now)
    except IntegrityError as error:
        if "username" not in str(error):
            raise
        raise CommandError(f"The user name {username} is in use.") from None


def _check_username(username: str) -> None:
    if not username.isprintable() or username != username.strip() or not 0 < len(username) <= 150:
        raise CommandError("The user name needs 1 to 150 printable characters, without space around them.")


def _tenant(public_id: str | None, role: str | None, platform_admin: bool) -> Tenant | None:
    if platform_admin:
        if public_id or role:
            raise CommandError("--platform-admin goes without --tenant and --role.")
        return None
    if not public_id or not role:
        raise CommandError("Give --tenant and --role, or --platform-admin.")
    return tenant_named(public_id)


def _read_password(username: str) -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    try:
        validate_password(password, User(username=username))
    except ValidationError as error:
        raise CommandError("The password is not usable: " + " ".join(error.messages)) from None
    return password
