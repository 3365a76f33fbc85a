"""Tenants, for platform keys (api.md, Conventions)."""

from datetime import datetime

from django.http import HttpResponse
from ninja import Query, Router

from sessions_app.hierarchy import actions
from sessions_app.hierarchy.commands import TenantIn
from sessions_app.hierarchy.errors import IdTaken
from sessions_app.hierarchy.models import Tenant
from sessions_app.hierarchy.schemas import TenantOut, tenant_record
from sessions_app.wire.authentication import PLATFORM, ApiRequest
from sessions_app.wire.cursors import decode_cursor, encode_cursor
from sessions_app.wire.idempotency import idempotent
from sessions_app.wire.schemas import Page, Paging, answer, errors, page
from sessions_app.wire.times import now_ms

router = Router(tags=["Tenants"])


@router.post("", auth=PLATFORM, response={201: TenantOut}, summary="Create a tenant", openapi_extra=errors(IdTaken))
@idempotent
def create_tenant(request: ApiRequest, body: TenantIn) -> HttpResponse:
    """201 with the tenant."""
    tenant = actions.create_tenant(name=body.name, public_id=body.id, by=request.principal, now=now_ms())
    return answer(tenant_record(tenant), status=201)


@router.get("", auth=PLATFORM, response={200: Page[TenantOut]}, summary="List tenants")
def list_tenants(request: ApiRequest, paging: Query[Paging]) -> HttpResponse:
    """All tenants, newest first."""
    found = Tenant.objects.newest_first()
    if paging.cursor:
        found = found.behind(*decode_cursor(paging.cursor, datetime, int))
    rows = list(found[: paging.limit + 1])
    return answer(page(rows, paging.limit, tenant_record, lambda row: encode_cursor(row.created_at, row.pk)))
