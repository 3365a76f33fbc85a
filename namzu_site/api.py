"""The JSON API: every slice's router below one tenant."""

from ninja import NinjaAPI

from namzu_site.http_errors import register_handlers
from namzu_site.manager.api import router as hierarchy
from sessions_app.hierarchy.api import tenants
from sessions_app.wire.bodies import StrictParser
from stores_app.session.api import router as messages

api = NinjaAPI(
    title="Namzu Console",
    version="1",
    description="Sessions, messages and what belongs to them. Every path names the tenant; every call carries a key.",
    urls_namespace="api",
    parser=StrictParser(),
    docs_url="/docs",
)
register_handlers(api)
# Addresses are tried in this order: the most frequent call first.
api.add_router("/tenants/{tenant_id}", messages)
api.add_router("/tenants/{tenant_id}", hierarchy)
api.add_router("/tenants", tenants)
