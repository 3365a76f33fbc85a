"""What all shapes on the wire share."""

from typing import Annotated, Any, Generic, TypeVar

import msgspec
from django.http import HttpResponse
from ninja import Field, Schema
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

from sessions_app.ids import MAX_ID_LENGTH, BadId, check_id
from sessions_app.wire.cursors import DEFAULT_LIMIT, MAX_LIMIT
from sessions_app.wire.errors import DomainError, NotFound

Item = TypeVar("Item")


class Out(Schema):
    """A record that goes out: camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class In(Schema):
    """A command that comes in: camelCase, no unknown fields, no conversions."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)


class Shape(BaseModel):
    """A part that is checked by rules and kept as it came, unknown fields too: only described by this."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class Page(Out, Generic[Item]):
    """A page of a list; `nextCursor` is null on the last one."""

    items: list[Item]
    next_cursor: str | None


class Problem(Out):
    """RFC 9457; `code` is stable, `details` are its fields."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    details: dict[str, Any]


def errors(*classes: type[DomainError]) -> dict[str, Any]:
    """For `openapi_extra`: what can go wrong in this route, beside what can in all of its kind."""
    return {"x-errors": classes}


def example(record: dict[str, Any], **more: Any) -> ConfigDict:
    """For `model_config`: what such a record looks like, and what else its description says."""
    return ConfigDict(json_schema_extra={"examples": [record], **more})


def left_out(*, shape: dict[str, Any] | None = None, **limits: Any) -> Any:
    """A field that is left out where there is nothing to say: None for us, never null on the wire.

    `shape` is what its description says besides.
    """

    def describe(schema: dict[str, Any]) -> None:
        for found in schema.pop("anyOf", []):
            if found.get("type") != "null":
                schema.update(found)
        schema.update(shape or {})

    return Field(None, json_schema_extra=describe, **limits)


class Paging(Schema):
    """How much of a list, and from where on."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str | None = left_out(max_length=2000, description="`nextCursor` of the page before")


def printable(text: str) -> str:
    """The text as it is; raises ValueError for control characters and for what cannot be seen at all."""
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text):
        raise ValueError("expected text with no control characters")
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise ValueError("expected something that can be seen")
    return text


def _id_shape(prefix: str) -> Any:
    return Field(json_schema_extra={"pattern": f"^{prefix}_[0-9A-Za-z._-]+$", "maxLength": MAX_ID_LENGTH})


def id_of(prefix: str) -> Any:
    """The type of an id with this prefix."""

    def checked(value: str) -> str:
        try:
            return check_id(prefix, value)
        except BadId as error:
            raise ValueError(str(error)) from None

    return Annotated[str, AfterValidator(checked), _id_shape(prefix)]


def path_id(prefix: str) -> Any:
    """The type of an id in a path: what cannot be one is not there, which is no fault of the request."""
    return Annotated[str, _id_shape(prefix)]


class TenantPath(Schema):
    tenant_id: path_id("tnt")  # type: ignore[valid-type]


_CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f"
# What `printable` takes, and little more.
VISIBLE = Field(json_schema_extra={"pattern": f"^[^{_CONTROLS}]*[^\\s{_CONTROLS}][^{_CONTROLS}]*$"})
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200),
    AfterValidator(printable),
    VISIBLE,
]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def whole(least: int, most: int) -> Any:
    """The type of a whole number; 4.0 is one in JSON, whatever parsers make of it."""
    return Annotated[int, Field(ge=least, le=most), BeforeValidator(_whole)]


Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


def existing_id(prefix: str, kind: str, value: str) -> str:
    """The id from a path; raises NotFound where it cannot be the id of anything."""
    try:
        return check_id(prefix, value)
    except BadId:
        raise NotFound(kind, value.encode(errors="replace").decode()) from None


def answer(record: Any, status: int = 200) -> HttpResponse:
    """The record as JSON. Records are plain dicts made by one function each, so nothing is validated on the way out."""
    return HttpResponse(msgspec.json.encode(record), status=status, content_type="application/json")


def page(rows: list[Any], limit: int, record: Any, cursor: Any) -> dict[str, Any]:
    """A page made of up to `limit` + 1 rows: the one too many says that there is a next page."""
    more = len(rows) > limit
    rows = rows[:limit]
    return {"items": [record(row) for row in rows], "nextCursor": cursor(rows[-1]) if more else None}
