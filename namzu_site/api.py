"""The JSON API: every slice's router below one tenant."""

from typing import Any

from ninja import NinjaAPI
from ninja.operation import Operation

from namzu_site.http_errors import register_handlers
from namzu_site.manager.api import router as hierarchy
from namzu_site.openapi import Document
from sessions_app.hierarchy.api import tenants
from sessions_app.wire.bodies import StrictParser
from stores_app.session.api import router as messages

_DESCRIPTION = """Sessions, messages and what belongs to them. Every path names the tenant; every call carries a key.

Every failure is `application/problem+json` with a stable `code`. Each call lists its own; any may be answered with 405
`method_not_allowed` where the address does not know the method, and with 500 `internal_error` where we made a mistake.
GET also answers HEAD. Bodies may come with `Content-Encoding: gzip` or `zstd`; answers are packed when asked for.
"""


class ConsoleApi(NinjaAPI):
    """Ninja's API with our description of it."""

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> Document:
        """The OpenAPI document."""
        return Document(self, self.get_root_path(path_params or {}) if path_prefix is None else path_prefix)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The name of the function: `append_messages`."""
        return operation.view_func.__name__


api = ConsoleApi(
    title="Namzu Console",
    version="1",
    description=_DESCRIPTION,
    urls_namespace="api",
    parser=StrictParser(),
    docs_url="/docs",
)
register_handlers(api)
# Addresses are tried in this order: the most frequent call first.
api.add_router("/tenants/{tenant_id}", messages)
api.add_router("/tenants/{tenant_id}", hierarchy)
api.add_router("/tenants", tenants)
