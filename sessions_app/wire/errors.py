"""The root of all anticipated failures."""

from typing import Any, ClassVar


class DomainError(Exception):
    """Something anticipated went wrong.

    `code` is the stable snake_case name, the docstring of the class its default message, `details` its fields by
    their wire names. Which HTTP status it gets is known to namzu_site/http_errors.py alone.
    """

    code: ClassVar[str]

    def __init__(self, message: str | None = None, **details: Any) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.details = details
        super().__init__(self.message)


class NotFound(DomainError):
    """There is no such thing here."""

    code = "not_found"

    def __init__(self, kind: str, id_: str) -> None:
        super().__init__(f"There is no {kind} {id_} here.", kind=kind, id=id_)


class InvalidRequest(DomainError):
    """The request does not fit: `places` lists where and why."""

    code = "invalid_request"

    def __init__(self, places: list[dict[str, str]]) -> None:
        super().__init__("; ".join(f"{place['in']}: {place['message']}" for place in places), places=places)

    @classmethod
    def at(cls, place: str, message: str) -> "InvalidRequest":
        """One place and what is wrong there."""
        return cls([{"in": place, "message": message}])


class MalformedBody(DomainError):
    """The body is not JSON that can be kept."""

    code = "malformed_body"


class UnsupportedMedia(DomainError):
    """The body's media type, charset or encoding is not one that is read here."""

    code = "unsupported_media_type"


class BodyTooLarge(DomainError):
    """The body is larger than is accepted."""

    code = "body_too_large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"The body is larger than {limit_bytes} bytes.", limitBytes=limit_bytes)


class BodyTooSlow(DomainError):
    """The rest of the body did not come; send it again."""

    code = "body_too_slow"


class IdempotencyMismatch(DomainError):
    """The Idempotency-Key was used before, with another body."""

    code = "idempotency_mismatch"


class IdempotencyInProgress(DomainError):
    """The first call with this Idempotency-Key has not ended yet; try again in a moment."""

    code = "idempotency_in_progress"


class PreconditionFailed(DomainError):
    """The record has changed: it is not the one that If-Match names."""

    code = "precondition_failed"

    def __init__(self, *, actual: str) -> None:
        super().__init__(actual=actual)


class DatabaseUnavailable(DomainError):
    """The database cannot be reached; try again in a moment."""

    code = "database_unavailable"


class Busy(DomainError):
    """Somebody else holds what this needs; try again in a moment."""

    code = "busy"
