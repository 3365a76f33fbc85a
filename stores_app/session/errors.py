"""What can go wrong with messages."""

from sessions_app.wire.errors import DomainError


class InvalidMessage(DomainError):
    """The message does not have the form a message has."""

    code = "invalid_message"

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}", places=[{"in": place, "message": reason}])
        self.place = place
        self.reason = reason
