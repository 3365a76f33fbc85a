"""The writers of people, keys and the audit log."""

import hashlib
import secrets
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from sessions_app.access.models import ApiKey, AuditEntry, Membership, User
from sessions_app.access.rules import Principal, Scope, command
from sessions_app.wire.times import to_wire

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # nothing that is misread aloud
_FIRST_ADMIN_LOCK = 0x6E616D7A  # any number of our own


def record_audit(
    *,
    tenant_id: int | None,
    by: Principal,
    action: str,
    target: str,
    now: datetime,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Writes one audit entry in the caller's transaction; `before` and `after` hold what changed, by wire names."""
    AuditEntry.objects.create(
        tenant_id=tenant_id, at=now, principal=str(by), action=action, target=target, before=before, after=after
    )


@transaction.atomic
def create_api_key(
    *,
    tenant_id: int | None,
    name: str,
    scope: Scope,
    by: Principal,
    now: datetime,
    actor: dict[str, Any] | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """The new key's record and its text `nmz_<keyId>_<secret>`, never shown again. No tenant: a platform key."""
    key_id = _random_word(12)
    secret = secrets.token_hex(24)
    key = ApiKey.objects.create(
        tenant_id=tenant_id,
        key_id=key_id,
        secret_sha256=hashlib.sha256(secret.encode()).digest(),
        name=name,
        scope=scope.word,
        actor=actor,
        created_at=now,
        expires_at=expires_at,
    )
    after = {"name": name, "scope": scope.word, "actor": actor}
    record_audit(tenant_id=tenant_id, by=by, action="api_key.created", target=key_id, now=now, after=after)
    return key, f"nmz_{key_id}_{secret}"


@transaction.atomic
def revoke_api_key(*, key: ApiKey, by: Principal, now: datetime) -> ApiKey:
    """The key, which opens nothing from now on; one that was revoked before keeps its time."""
    key = ApiKey.objects.select_for_update().get(pk=key.pk)
    if key.revoked_at is not None:
        return key
    key.revoked_at = now
    key.save(update_fields=["revoked_at"])
    record_audit(
        tenant_id=key.tenant_id,
        by=by,
        action="api_key.revoked",
        target=key.key_id,
        now=now,
        before={"revokedAt": None},
        after={"revokedAt": to_wire(now)},
    )
    return key


@transaction.atomic
def create_user(*, username: str, password: str, by: Principal, now: datetime, platform_admin: bool = False) -> User:
    """The new person, with the password hashed."""
    user = User(username=username, is_platform_admin=platform_admin, created_at=now)
    user.set_password(password)
    user.save()
    after = {"username": username, "platformAdmin": platform_admin}
    record_audit(tenant_id=None, by=by, action="user.created", target=username, now=now, after=after)
    return user


@transaction.atomic
def add_member(*, tenant_id: int, user: User, role: str, by: Principal, now: datetime) -> Membership:
    """The person's membership in the tenant."""
    membership = Membership.objects.create(tenant_id=tenant_id, user=user, role=role, created_at=now)
    after = {"username": user.username, "role": role}
    record_audit(tenant_id=tenant_id, by=by, action="member.added", target=user.username, now=now, after=after)
    return membership


@transaction.atomic
def create_first_admin(*, now: datetime) -> tuple[str, str] | None:
    """User name and password of a platform administrator made on the spot; None where anybody can sign in already."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_FIRST_ADMIN_LOCK])  # two starts at once make one
    if User.objects.exists():
        return None
    password = "-".join(_random_word(4) for _ in range(4))
    create_user(username="admin", password=password, platform_admin=True, by=command("up"), now=now)
    return "admin", password


def _random_word(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
