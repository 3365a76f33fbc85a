"""What the pages of the hierarchy are asked by their URL."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.http import urlencode

from sessions_app.hierarchy.models import Project, SessionQuerySet
from sessions_app.hierarchy.rules import SESSION_STATUSES, actor_kind_of
from sessions_app.wire.cursors import decode_cursor
from sessions_app.wire.errors import InvalidRequest

PROJECT_CHOICES = 200
_NOT_OFFERED = {"invalid_choice": "“%(value)s” is none of the choices."}
AGES = {
    "1h": (timedelta(hours=1), "Last hour"),
    "24h": (timedelta(hours=24), "Last 24 hours"),
    "7d": (timedelta(days=7), "Last 7 days"),
    "30d": (timedelta(days=30), "Last 30 days"),
}


def _choices(anything: str, words: dict[str, str]) -> list[tuple[str, str]]:
    return [("", anything), *words.items()]


class PlaceForm(forms.Form):
    """Where in a list the page begins."""

    cursor = forms.CharField(required=False, max_length=500)

    def clean_cursor(self) -> tuple[datetime, int] | None:
        """Instant and key of the last row before it."""
        text = self.cleaned_data["cursor"]
        try:
            return decode_cursor(text, datetime, int) if text else None
        except InvalidRequest:
            raise ValidationError("The address names a place that is not in this list. Start from the top.") from None


class SessionFilterForm(PlaceForm):
    """The filters of the list of sessions; each may be left out."""

    q = forms.CharField(required=False, max_length=200)
    status = forms.MultipleChoiceField(
        required=False, choices=[(status, status) for status in SESSION_STATUSES], error_messages=_NOT_OFFERED
    )
    project = forms.CharField(required=False, max_length=64)
    owner_kind = forms.ChoiceField(
        required=False,
        label="Owned by",
        error_messages=_NOT_OFFERED,
        choices=_choices("Anyone", {"user": "A person", "agent": "An agent", "system": "The system"}),
    )
    owner = forms.CharField(required=False, max_length=200, label="Owner's id")
    edge = forms.ChoiceField(
        required=False,
        label="Origin",
        error_messages=_NOT_OFFERED,
        choices=_choices(
            "Any kind",
            {
                "root": "Root sessions",
                "agent_spawn": "Agent spawns",
                "user_handoff": "Hand-offs",
                "intervention": "Interventions",
            },
        ),
    )
    age = forms.ChoiceField(
        required=False,
        label="Created",
        error_messages=_NOT_OFFERED,
        choices=_choices("Any time", {name: words for name, (_, words) in AGES.items()}),
    )

    def __init__(self, data: QueryDict, *, tenant_id: int) -> None:
        super().__init__(data)
        self._given = data
        self.tenant_id = tenant_id
        projects = Project.objects.for_tenant(tenant_id).order_by("name", "id").values_list("public_id", "name")
        self.projects = [(public_id, name or public_id) for public_id, name in projects[:PROJECT_CHOICES]]

    def clean_project(self) -> str:
        """A project of the tenant; the choices do not hold all of them."""
        public_id: str = self.cleaned_data["project"]
        if public_id and public_id not in dict(self.projects):
            name = Project.objects.for_tenant(self.tenant_id).filter(public_id=public_id).values_list("name", flat=True)
            found = name.first()
            if found is None:
                raise ValidationError("There is no such project here.")
            self.projects.append((public_id, found or public_id))
        return public_id

    def clean(self) -> dict[str, Any]:
        """Without a kind, the owner's id tells it by its prefix."""
        values = super().clean() or self.cleaned_data
        owner = values.get("owner")
        if owner and not values.get("owner_kind"):
            kind = actor_kind_of(owner)
            if kind is None:
                self.add_error("owner", "Expected an id that begins with usr_, agt_ or sys_.")
            values["owner_kind_of_id"] = kind
        return values

    @property
    def set_filters(self) -> list[tuple[str, str]]:
        """Name and value of every filter that is set, as they stand in an address."""
        names = ("q", "status", "project", "owner_kind", "owner", "edge", "age")
        return [(name, text) for name in names for text in self._given.getlist(name) if text.strip()]

    @property
    def has_hidden(self) -> bool:
        """Whether one of the filters that are folded away at first is set."""
        return any(name not in ("q", "status") for name, _ in self.set_filters)

    def query(self, **more: str) -> str:
        """The filters as the query of an address."""
        return urlencode([*self.set_filters, *more.items()])

    def narrow(self, found: SessionQuerySet, *, now: datetime) -> SessionQuerySet:
        """The sessions that the (valid) filters let through."""
        values = self.cleaned_data
        if values["q"]:
            found = found.matching(values["q"])
        if values["status"]:
            found = found.filter(status__in=values["status"])
        if values["project"]:
            found = found.filter(project__public_id=values["project"])
        if values["age"]:
            found = found.filter(created_at__gte=now - AGES[values["age"]][0])
        return self._narrow_by_edge(self._narrow_by_owner(found))

    def _narrow_by_owner(self, found: SessionQuerySet) -> SessionQuerySet:
        kind = self.cleaned_data["owner_kind"] or self.cleaned_data.get("owner_kind_of_id")
        if kind and self.cleaned_data["owner"]:
            return found.owned_by(kind, self.cleaned_data["owner"])
        return found.filter(owner_kind=kind) if kind else found

    def _narrow_by_edge(self, found: SessionQuerySet) -> SessionQuerySet:
        edge = self.cleaned_data["edge"]
        if edge == "root":
            return found.roots()
        return found.filter(parent_edge__kind=edge) if edge else found
