"""What can go wrong with who may do what."""

from sessions_app.wire.errors import DomainError


class NotAuthenticated(DomainError):
    """A valid API key is needed: Authorization: Bearer nmz_<keyId>_<secret>."""

    code = "not_authenticated"


class InsufficientScope(DomainError):
    """The credential's scope does not allow this."""

    code = "insufficient_scope"

    def __init__(self, *, required: str, actual: str) -> None:
        super().__init__(required=required, actual=actual)


class TenantIsolation(DomainError):
    """The record names another tenant than the path."""

    code = "tenant_isolation"
