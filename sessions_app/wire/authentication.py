"""Bearer keys: who calls, what the scope allows, and which tenant the path may name (api.md, Conventions)."""

import hashlib
import hmac
import re
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.db.models import Q
from django.http import HttpRequest
from ninja.security import HttpBearer

from sessions_app.access.errors import InsufficientScope, NotAuthenticated
from sessions_app.access.models import ApiKey
from sessions_app.access.rules import Principal, Scope
from sessions_app.hierarchy.models import Tenant
from sessions_app.ids import BadId, check_id
from sessions_app.wire.bodies import load_body
from sessions_app.wire.errors import NotFound
from sessions_app.wire.times import now_ms

CACHE_SECONDS = 30  # also how long a revoked key may go on
CACHE_SIZE = 10_000
LAST_USED_EVERY = timedelta(minutes=1)
_TOKEN = re.compile(r"nmz_([0-9a-z]{4,32})_([0-9a-f]{16,128})", re.ASCII)
_NO_SECRET = b"\0" * 32

Value = TypeVar("Value")


class _Cache(dict[str, tuple[float, Value]]):
    """Values for at most 30 s; emptied when full, so that made-up tokens cannot fill the memory."""

    def fresh(self, name: str) -> Value | None:
        entry = self.get(name)
        return entry[1] if entry is not None and entry[0] > time.monotonic() else None

    def keep(self, name: str, value: Value) -> Value:
        if len(self) >= CACHE_SIZE:
            self.clear()
        self[name] = (time.monotonic() + CACHE_SECONDS, value)
        return value


@dataclass(frozen=True, slots=True)
class Credential:
    """A key that has been checked; `tenant` is None for a platform key."""

    principal: Principal
    tenant: Tenant | None


class ApiRequest(HttpRequest):
    """A request that has been let in."""

    principal: Principal
    tenant: Tenant


class ApiKeyBearer(HttpBearer):
    """Lets a request in that carries `Bearer nmz_<keyId>_<secret>` with at least the scope, for the path's tenant."""

    _credentials: _Cache[Credential] = _Cache()
    _tenants: _Cache[Tenant] = _Cache()

    def __init__(self, scope: Scope, *, platform: bool = False) -> None:
        super().__init__()
        self.scope = scope
        self.platform = platform

    def __call__(self, request: HttpRequest) -> Any:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != self.openapi_scheme:
            raise NotAuthenticated
        return self.authenticate(request, token.strip())

    def authenticate(self, request: HttpRequest, token: str) -> Principal:
        """The principal; raises NotAuthenticated, NotFound for a tenant that is unknown or foreign, InsufficientScope.

        Sets `request.principal` and `request.tenant`, then reads the body within its limit.
        """
        credential = self._credential(token)
        tenant_id = request.resolver_match.kwargs.get("tenant_id") if request.resolver_match else None
        if tenant_id is not None:
            request.tenant = self._tenant(credential, tenant_id)  # type: ignore[attr-defined]
        if self.platform and credential.tenant is not None:
            raise InsufficientScope(required="platform", actual=credential.principal.scope.word)
        credential.principal.check_scope(self.scope)
        request.principal = credential.principal  # type: ignore[attr-defined]
        load_body(request)
        return credential.principal

    @classmethod
    def known(cls, authorization: str) -> Credential | None:
        """The credential of an Authorization header that was let in within the last 30 s."""
        scheme, _, token = authorization.partition(" ")
        return cls._credentials.fresh(_digest(token.strip())) if scheme.lower() == "bearer" else None

    @classmethod
    def forget_everything(cls) -> None:
        """Empties the caches of this process."""
        cls._credentials.clear()
        cls._tenants.clear()

    def _credential(self, token: str) -> Credential:
        digest = _digest(token)
        return self._credentials.fresh(digest) or self._credentials.keep(digest, _look_up(token))

    def _tenant(self, credential: Credential, public_id: str) -> Tenant:
        own = credential.tenant
        if own is not None:
            if own.public_id != public_id:
                raise NotFound("tenant", public_id)
            return own
        return self._tenants.fresh(public_id) or self._tenants.keep(public_id, _tenant_or_404(public_id))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _look_up(token: str) -> Credential:
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise NotAuthenticated
    now = now_ms()
    key = ApiKey.objects.usable_at(now).select_related("tenant").filter(key_id=match[1]).first()
    secret = bytes(key.secret_sha256) if key is not None else _NO_SECRET
    if not hmac.compare_digest(hashlib.sha256(match[2].encode()).digest(), secret) or key is None:
        raise NotAuthenticated
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_EVERY)
    ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)
    return Credential(principal=key.principal, tenant=key.tenant)


def _tenant_or_404(public_id: str) -> Tenant:
    try:
        tenant = Tenant.objects.filter(public_id=check_id("tnt", public_id)).first()
    except BadId:
        tenant = None
    if tenant is None:
        raise NotFound("tenant", public_id)
    return tenant


READ = ApiKeyBearer(Scope.READ)
RUNNER = ApiKeyBearer(Scope.RUNNER)
OPERATOR = ApiKeyBearer(Scope.OPERATOR)
ADMIN = ApiKeyBearer(Scope.ADMIN)
PLATFORM = ApiKeyBearer(Scope.ADMIN, platform=True)
