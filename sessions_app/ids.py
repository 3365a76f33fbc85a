"""Public ids: minted as TypeIDs, checked by prefix (domain.md §2)."""

import re

from typeid import TypeID

MAX_ID_LENGTH = 64
_SHAPE = re.compile(r"([a-z]+)_[0-9A-Za-z._-]+", re.ASCII)


class BadId(ValueError):
    """The text is not an id of the kind that is expected here."""


def new_id(prefix: str) -> str:
    """A fresh id `<prefix>_<26 characters>` that sorts by time."""
    return str(TypeID(prefix=prefix))


def check_id(prefix: str, value: str) -> str:
    """The id as it is; raises BadId where prefix, characters or length do not fit (§2)."""
    match = _SHAPE.fullmatch(value)
    if match is None or match[1] != prefix:
        raise BadId(f"expected {prefix}_ and letters, digits, '_', '-' or '.'")
    if len(value) > MAX_ID_LENGTH:
        raise BadId(f"longer than {MAX_ID_LENGTH} characters")
    return value
