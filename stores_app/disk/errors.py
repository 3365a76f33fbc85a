"""What can be wrong with a tree on disk and with the records in it."""

from typing import ClassVar

from sessions_app.wire.errors import DomainError


class NotATree(DomainError):
    """There is no tree of a runtime here."""

    code = "not_a_tree"


class DamagedRecord(DomainError):
    """The record cannot be used as it is.

    `file` is the path below the root, `place` where in it (empty for the file as a whole), `kind` a word to sort by.
    """

    code = "damaged_record"
    kind: ClassVar[str] = "damaged"

    def __init__(self, file: str, place: str, reason: str) -> None:
        where = f"{file} ({place})" if place else file
        super().__init__(f"{where}: {reason}", file=file, place=place, reason=reason)
        self.file = file
        self.place = place
        self.reason = reason


class RefusedFile(DamagedRecord):
    """What lies there is not opened: a link, a special file, or something that cannot be read."""

    code = "refused_file"
    kind = "refused"


class NewerRecord(DamagedRecord):
    """The record's schemaVersion is higher than is known here."""

    code = "newer_record"
    kind = "newer"
