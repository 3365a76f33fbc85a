"""What the frame around every page shows: sections, tenants to switch to, product and version."""

import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from sessions_app.access.models import User
from sessions_app.hierarchy.models import Tenant, Tenants

PRODUCT = "Namzu Console"
SWITCHER_LENGTH = 20


@dataclass(frozen=True, slots=True)
class Section:
    """A place in the rail: `route` names a URL that takes the tenant's id; URL names in `prefixes` light it."""

    label: str
    icon: str
    route: str
    prefixes: tuple[str, ...]


# A section whose route is not there is not shown.
SECTIONS = (
    Section("Overview", "overview", "tenant_home", ("tenant_home",)),
    Section("Projects", "projects", "project_list", ("project_",)),
    Section("Sessions", "sessions", "session_list", ("session_",)),
    Section("Explorer", "explorer", "explorer", ("explorer",)),
)


@dataclass(frozen=True, slots=True)
class Link:
    """A section in the rail of one tenant."""

    label: str
    icon: str
    url: str
    active: bool


class Shell:
    """Read by the templates; asks the database for nothing but the tenants, and for these only where they are shown."""

    product = PRODUCT

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def version(self) -> str:
        return product_version()

    @property
    def tenant(self) -> Tenant | None:
        """The tenant the page belongs to."""
        return getattr(self._request, "tenant", None)

    @cached_property
    def tenants(self) -> list[Tenant]:
        """The first tenants, by name, that the person may enter."""
        user = self._request.user
        return list(tenants_of(user)[:SWITCHER_LENGTH]) if isinstance(user, User) else []

    @cached_property
    def sections(self) -> list[Link]:
        """The rail; empty outside of a tenant."""
        if self.tenant is None:
            return []
        match = self._request.resolver_match
        name = (match.url_name if match else None) or ""
        links = []
        for section in SECTIONS:
            url = _url_of(section, self.tenant.public_id)
            if url:
                links.append(Link(section.label, section.icon, url, name.startswith(section.prefixes)))
        return links


def shell(request: HttpRequest) -> dict[str, Any]:
    """The context processor."""
    return {"shell": Shell(request)}


def tenants_of(user: User) -> Tenants:
    """The tenants the person may enter, by name."""
    entered = Tenant.objects.all() if user.is_platform_admin else Tenant.objects.filter(memberships__user=user)
    return entered.order_by("name", "id")


@lru_cache(maxsize=1)
def product_version() -> str:
    """The version that pyproject.toml states."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def _url_of(section: Section, tenant_id: str) -> str | None:
    try:
        return reverse(section.route, args=[tenant_id])
    except NoReverseMatch:
        return None
