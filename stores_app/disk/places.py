"""Checks of the values in one file, so that each thing wrong is named with its place."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from sessions_app.hierarchy.rules import BadActor, check_actor
from sessions_app.ids import BadId, check_id
from sessions_app.wire.errors import MalformedBody
from sessions_app.wire.json import read_json
from sessions_app.wire.jsonb import can_hold
from sessions_app.wire.times import BadTime, from_wire
from stores_app.disk.errors import DamagedRecord, NewerRecord

RECORD_VERSION = 1  # the highest schemaVersion of records and lines that is known; those without one have it
_SHOWN = 100  # of a name that came from elsewhere

Shape = TypeVar("Shape", bound=msgspec.Struct)


class Places:
    """Checks of single values in one file; what does not fit raises DamagedRecord with the value's place."""

    def __init__(self, file: str, line: int | None = None) -> None:
        self.file = file
        self._line = line

    def at(self, place: str) -> str:
        """The place as it is reported: `status`, or `line 7: message.role`."""
        if self._line is None:
            return place
        return f"line {self._line}: {place}" if place else f"line {self._line}"

    def damaged(self, place: str, reason: str) -> DamagedRecord:
        return DamagedRecord(self.file, self.at(place), reason)

    def shaped(self, data: bytes, shape: type[Shape]) -> tuple[Shape, dict[str, Any]]:
        """The record, and the fields its shape does not have."""
        with self.reading():
            value = read_json(data)
            if not isinstance(value, dict):
                raise self.damaged("", "expected an object")
            self.check_version(value.get("schemaVersion", RECORD_VERSION))
            self.check_keepable(value)  # first: a name that is no text is more than msgspec can bear
            record = msgspec.convert(value, shape)
        known = {field.encode_name for field in msgspec.structs.fields(shape)}
        extra = {key: value[key] for key in value if key not in known}
        return record, extra

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turns what JSON and shapes can have wrong into DamagedRecord."""
        try:
            yield
        except MalformedBody as error:
            raise self.damaged("", error.message) from None
        except msgspec.ValidationError as error:
            reason, _, path = str(error).partition(" - at `$")
            raise self.damaged(path.strip(".`"), reason) from None

    def check_version(self, version: object) -> None:
        if not isinstance(version, int) or isinstance(version, bool):
            raise self.damaged("schemaVersion", "expected a whole number")
        if version > RECORD_VERSION:
            reason = f"schemaVersion {version} is higher than {RECORD_VERSION}, the highest that is known here"
            raise NewerRecord(self.file, self.at(""), reason)

    def check_keepable(self, record: dict[str, Any]) -> None:
        """Refuses text that jsonb cannot hold (reliability.md, bad input 1)."""
        for name, value in record.items():
            if not can_hold([name, value]):
                place = name[:_SHOWN] if can_hold(name) else ""
                raise self.damaged(place, "holds a NUL or half of a surrogate pair, which a record here cannot")

    def id(self, place: str, prefix: str, value: str) -> str:
        try:
            return check_id(prefix, value)
        except BadId as error:
            raise self.damaged(place, str(error)) from None

    def ref(self, place: str, prefix: str, value: str | None) -> str | None:
        return None if value is None else self.id(place, prefix, value)

    def time(self, place: str, value: str) -> datetime:
        try:
            return from_wire(value)
        except BadTime as error:
            raise self.damaged(place, str(error)) from None

    def one_of(self, place: str, options: tuple[str, ...], value: str) -> str:
        if value not in options:
            raise self.damaged(place, f"expected one of {', '.join(options)}")
        return value

    def actor(self, place: str, tenant_id: str, value: dict[str, Any]) -> dict[str, Any]:
        try:
            return check_actor(value, tenant_id)
        except BadActor as error:
            raise self.damaged(place, str(error)) from None
