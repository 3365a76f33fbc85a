"""What keeps tenants apart in the database: composite foreign keys, and one way to narrow a query."""

from datetime import datetime
from typing import Any, Self, TypeVar

from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

Row = TypeVar("Row", bound=models.Model, covariant=True)
Set = TypeVar("Set")
Got = TypeVar("Got")


class PublicIdField(models.CharField[Set, Got]):
    """Public id of a record, compared in code-unit order (domain.md §2)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 64, "db_collation": "C", **kwargs})


class TenantQuerySet(models.QuerySet[Row]):
    """Rows that carry a tenant."""

    def for_tenant(self, tenant_id: int) -> Self:
        """Only the rows of this tenant."""
        return self.filter(tenant_id=tenant_id)


def older(created_at: datetime, pk: int) -> Q:
    """What comes after this place in a list that is sorted newest first, by key where times are equal."""
    behind = Q(created_at__lt=created_at) | Q(created_at=created_at, pk__lt=pk)
    return behind & Q(created_at__lte=created_at)  # the plain bound is what the index is entered by


class NewestFirst(TenantQuerySet[Row]):
    """Rows with `created_at` that are listed newest first."""

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")

    def behind(self, created_at: datetime, pk: int) -> Self:
        """The rows after this place of the list."""
        return self.filter(older(created_at, pk))


class SameTenant(models.BaseConstraint):
    """A foreign key `(tenant_id, <column>) → <table> (tenant_id, id)`: the database refuses a child of another tenant.

    The Django field beside it is a `ForeignKey(db_constraint=False)`; the parent has a unique `(tenant, id)`.
    """

    def __init__(self, *, field: str, to: str, name: str) -> None:
        super().__init__(name=name)
        self.field = field
        self.to = to

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        path, _, _ = super().deconstruct()
        return path, (), {"field": self.field, "to": self.to, "name": self.name}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameTenant) and self.deconstruct() == other.deconstruct()

    __hash__ = models.BaseConstraint.__hash__

    def constraint_sql(self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None) -> str:
        return self.name and f"CONSTRAINT {self._quote(schema_editor, self.name)} {self._body(model, schema_editor)}"

    def create_sql(self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None) -> str:
        assert model is not None  # noqa: S101
        table = self._quote(schema_editor, model._meta.db_table)
        return f"ALTER TABLE {table} ADD {self.constraint_sql(model, schema_editor)}"

    def remove_sql(self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None) -> str:
        assert model is not None  # noqa: S101
        table = self._quote(schema_editor, model._meta.db_table)
        return f"ALTER TABLE {table} DROP CONSTRAINT {self._quote(schema_editor, self.name)}"

    def validate(self, *args: Any, **kwargs: Any) -> None:
        """Left to the database."""

    def _body(self, model: type[models.Model] | None, schema_editor: BaseDatabaseSchemaEditor | None) -> str:
        assert model is not None  # noqa: S101
        column = self._quote(schema_editor, f"{self.field}_id")
        # Deferrable, so that a row and what it points at may be written in any order within a transaction.
        return (
            f"FOREIGN KEY (tenant_id, {column}) REFERENCES {self._quote(schema_editor, self.to)} (tenant_id, id)"
            " DEFERRABLE INITIALLY IMMEDIATE"
        )

    @staticmethod
    def _quote(schema_editor: BaseDatabaseSchemaEditor | None, name: str) -> str:
        assert schema_editor is not None  # noqa: S101 - as BaseConstraint types it, never None when SQL is made
        return schema_editor.quote_name(name)
