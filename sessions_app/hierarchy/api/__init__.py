"""The routes of the hierarchy."""

from sessions_app.hierarchy.api import reads, writes
from sessions_app.hierarchy.api.loading import router
from sessions_app.hierarchy.api.tenants import router as tenants

__all__ = ["reads", "router", "tenants", "writes"]
