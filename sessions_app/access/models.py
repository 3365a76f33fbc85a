"""People, their membership in tenants, API keys, and the audit log."""

from datetime import datetime
from typing import ClassVar, Self

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Lower

from sessions_app.access.rules import ROLE_SCOPES, SCOPES, Principal, Scope
from sessions_app.tenancy import TenantQuerySet


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.annotate(any_case=Lower("username")).get(any_case=Lower(Value(username)))


class User(AbstractBaseUser):
    """A person who signs in. Roles are per tenant; a platform administrator has all of them everywhere."""

    username = models.CharField(max_length=150, unique=True)
    display_name = models.CharField(max_length=150, blank=True)
    is_platform_admin = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    USERNAME_FIELD = "username"

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("username"), name="user_username_any_case")]

    def __str__(self) -> str:
        return self.username

    def get_short_name(self) -> str:
        return self.display_name or self.username


class Membership(models.Model):
    """What a person may do in one tenant, and the actor they act as there."""

    tenant = models.ForeignKey("sessions_app.Tenant", models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=[(role, role) for role in ROLE_SCOPES])
    actor = models.JSONField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "tenant"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=list(ROLE_SCOPES)), name="membership_role"),
        ]


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def usable_at(self, now: datetime) -> Self:
        """Neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)


class ApiKey(models.Model):
    """A bearer key: `nmz_<key_id>_<secret>`, of which only the secret's SHA-256 is kept. No tenant: a platform key."""

    tenant = models.ForeignKey("sessions_app.Tenant", models.CASCADE, null=True, related_name="api_keys")
    key_id = models.CharField(max_length=32, unique=True, db_collation="C")
    secret_sha256 = models.BinaryField()
    name = models.CharField(max_length=200)
    scope = models.CharField(max_length=16)
    actor = models.JSONField(null=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(scope__in=SCOPES), name="api_key_scope")]

    def __str__(self) -> str:
        return f"{self.name} (nmz_{self.key_id}_…)"

    @property
    def principal(self) -> Principal:
        return Principal(
            kind="key", ref=self.key_id, scope=Scope.of(self.scope), tenant_id=self.tenant_id, actor=self.actor
        )


class AuditEntry(models.Model):
    """One mutation: who did what to which record, and what it looked like before and after. Never changed."""

    tenant = models.ForeignKey("sessions_app.Tenant", models.CASCADE, null=True, related_name="+", db_index=False)
    at = models.DateTimeField()
    principal = models.CharField(max_length=200)
    action = models.CharField(max_length=64)
    target = models.CharField(max_length=200)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        indexes = [models.Index("tenant", models.F("id").desc(), name="audit_by_tenant")]
