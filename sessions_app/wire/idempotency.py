"""One mechanism for repeated calls: the same key and body gives the stored answer again (api.md, Conventions)."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

import psycopg
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse

from sessions_app.access.rules import Principal
from sessions_app.wire.authentication import ApiRequest
from sessions_app.wire.errors import IdempotencyInProgress, IdempotencyMismatch, InvalidRequest
from sessions_app.wire.models import StoredAnswer
from sessions_app.wire.times import now_ms

KEPT_FOR = timedelta(hours=24)
WAIT_MS = 5_000  # how long a repeated call waits for the first one to end
MAX_KEY_LENGTH = 255

# Waits for a first call that is in flight: its row, not committed yet, holds this insert up. What is expired is taken
# over.
_CLAIM = f"""
    WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', '{WAIT_MS}', true))
    INSERT INTO sessions_app_storedanswer AS stored (digest, body_sha256, status, answer, created_at)
    SELECT %s, %s, 0, '', %s FROM patience
    ON CONFLICT (digest) DO UPDATE
        SET body_sha256 = excluded.body_sha256, created_at = excluded.created_at WHERE stored.created_at < %s
    RETURNING 1
"""  # noqa: S608 - the text is made of constants


class CallRepeated(Exception):
    """A statement that stores its own answer met the answer of an earlier call."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """What identifies a call (`digest`), and what it asked for (`body_sha256`)."""

    digest: bytes
    body_sha256: bytes

    @classmethod
    def of(cls, by: Principal, method: str, path: str, key: str, content_type: str, body: bytes) -> "CallKey":
        """The identity of a call: keys count for one credential, method and path."""
        scope = f"{by}\n{method}\n{path}\n{key}"
        asked = content_type.encode() + b"\n" + body
        return cls(hashlib.sha256(scope.encode()).digest(), hashlib.sha256(asked).digest())


def call_key(request: ApiRequest) -> CallKey | None:
    """The call's identity, scoped to credential, method and path; None without the header; raises InvalidRequest."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    content_type = request.content_type or ""
    method = request.method or ""
    return CallKey.of(request.principal, method, request.path_info, check_key(key), content_type, request.body)


def check_key(key: str) -> str:
    """The key as it is; raises InvalidRequest."""
    if not 1 <= len(key) <= MAX_KEY_LENGTH or not key.isprintable():
        raise InvalidRequest.at("header.Idempotency-Key", f"expected 1 to {MAX_KEY_LENGTH} printable characters")
    return key


def idempotent(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A POST that may be repeated with its Idempotency-Key."""

    @wraps(view)
    def repeatable(request: ApiRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return once(call_key(request), lambda: view(request, *args, **kwargs))

    return repeatable


def once(call: CallKey | None, make: Callable[[], HttpResponse]) -> HttpResponse:
    """The answer of `make`, or the stored one of an earlier call; change and stored answer are one transaction.

    What `make` raises undoes both, so only successes are stored. Raises IdempotencyMismatch, or IdempotencyInProgress
    where the first call has not ended within 5 s.
    """
    if call is None:
        return make()
    with transaction.atomic():
        if not _claim(call, now_ms()):
            return replay(call)
        response = make()
        StoredAnswer.objects.filter(pk=call.digest).update(status=response.status_code, answer=response.content)
        return response


def once_in_statement(call: CallKey, make: Callable[[], HttpResponse]) -> HttpResponse:
    """As `once`, for a `make` whose one statement stores the answer itself and raises CallRepeated."""
    try:
        return make()
    except CallRepeated:
        now = now_ms()
        expired = StoredAnswer.objects.filter(pk=call.digest, created_at__lt=now - KEPT_FOR)
        return make() if expired.delete()[0] else replay(call)


def replay(call: CallKey) -> HttpResponse:
    """The stored answer; raises IdempotencyMismatch where the key was used for something else."""
    stored = StoredAnswer.objects.get(pk=call.digest)
    if bytes(stored.body_sha256) != call.body_sha256:
        raise IdempotencyMismatch
    response = HttpResponse(bytes(stored.answer), status=stored.status, content_type="application/json")
    response["Idempotent-Replay"] = "true"
    return response


def forget_expired(*, now: datetime, batch: int = 10_000) -> int:
    """How many answers older than 24 hours were deleted, at most `batch`."""
    expired = StoredAnswer.objects.filter(created_at__lt=now - KEPT_FOR).values("pk")[:batch]
    deleted, _ = StoredAnswer.objects.filter(pk__in=expired).delete()
    return deleted


def _claim(call: CallKey, now: datetime) -> bool:
    with connection.cursor() as cursor:
        try:
            cursor.execute(_CLAIM, [call.digest, call.body_sha256, now, now - KEPT_FOR])
        except OperationalError as error:
            if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise IdempotencyInProgress from None
            raise
        return cursor.fetchone() is not None
