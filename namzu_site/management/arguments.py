"""What the arguments of several commands mean."""

from django.core.management.base import CommandError

from sessions_app.hierarchy.models import Tenant

MAX_NAME_LENGTH = 200


def tenant_named(public_id: str) -> Tenant:
    """The tenant of that id; raises CommandError."""
    found = Tenant.objects.filter(public_id=public_id).first()
    if found is None:
        raise CommandError(f"There is no tenant {public_id}. manage.py create_tenant makes one.")
    return found


def checked_name(name: str, what: str) -> str:
    """The name without space around it; raises CommandError, in which `what` stands for the argument."""
    name = name.strip()
    if not name.isprintable() or not 0 < len(name) <= MAX_NAME_LENGTH:
        raise CommandError(f"{what} needs 1 to {MAX_NAME_LENGTH} printable characters.")
    return name
