"""What all shapes on the wire share."""

from typing import Annotated, Any, Generic, TypeVar

import msgspec
from django.http import HttpResponse
from ninja import Field, Schema
from pydantic import AfterValidator, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

from sessions_app.ids import BadId, check_id
from sessions_app.wire.cursors import DEFAULT_LIMIT, MAX_LIMIT
from sessions_app.wire.errors import NotFound

Item = TypeVar("Item")


class Out(Schema):
    """A record that goes out: camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class In(Schema):
    """A command that comes in: camelCase, no unknown fields, no conversions."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)


class Page(Out, Generic[Item]):
    """A page of a list; `nextCursor` is null on the last one."""

    items: list[Item]
    next_cursor: str | None = None


class Problem(Out):
    """RFC 9457; `code` is stable, `details` are its fields."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    details: dict[str, Any]


READ_ERRORS: dict[Any, Any] = {401: Problem, 403: Problem, 404: Problem, 413: Problem, 422: Problem}
WRITE_ERRORS: dict[Any, Any] = READ_ERRORS | {400: Problem, 409: Problem, 415: Problem, 503: Problem}
CHANGE_ERRORS: dict[Any, Any] = WRITE_ERRORS | {412: Problem}


class Paging(Schema):
    """How much of a list, and from where on."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(None, max_length=2000, description="`nextCursor` of the page before")


class TenantPath(Schema):
    tenant_id: str


def printable(text: str) -> str:
    """The text as it is; raises ValueError for control characters and for what cannot be seen at all."""
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text):
        raise ValueError("expected text with no control characters")
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise ValueError("expected something that can be seen")
    return text


def id_of(prefix: str) -> Any:
    """The type of an id with this prefix."""

    def checked(value: str) -> str:
        try:
            return check_id(prefix, value)
        except BadId as error:
            raise ValueError(str(error)) from None

    return Annotated[str, AfterValidator(checked), Field(json_schema_extra={"pattern": f"^{prefix}_[0-9A-Za-z._-]+$"})]


Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(printable)]


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
