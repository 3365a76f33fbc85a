"""What can go wrong with projects, sessions and their edges."""

from sessions_app.wire.errors import DomainError


class IdTaken(DomainError):
    """The id is in use."""

    code = "id_taken"

    def __init__(self, id_: str) -> None:
        super().__init__(f"The id {id_} is in use.", id=id_)


class IllegalTransition(DomainError):
    """The status cannot change this way."""

    code = "illegal_transition"

    def __init__(self, *, before: str, after: str, allowed: list[str]) -> None:
        words = ", ".join(allowed) or "nothing"
        super().__init__(
            f"{before} cannot become {after}; allowed is {words}.", **{"from": before, "to": after, "allowed": allowed}
        )


class AncestryCycle(DomainError):
    """The edge would make a session its own ancestor."""

    code = "ancestry_cycle"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"The edge would make {session_id} its own ancestor.", sessionId=session_id)


class AlreadyLinked(DomainError):
    """The session has a parent edge, and it can have only one."""

    code = "already_linked"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"{session_id} has a parent edge, and a session can have only one.", sessionId=session_id)


class TreeTooDeep(DomainError):
    """The tree would become deeper than any tree may be."""

    code = "tree_too_deep"

    def __init__(self, *, depth: int, limit: int) -> None:
        super().__init__(f"Depth {depth} is more than the {limit} any tree may have.", depth=depth, limit=limit)


class SessionArchived(DomainError):
    """The session is archived: it can be read, and written to only after a restore."""

    code = "session_archived"


class NotCurrentOwner(DomainError):
    """The session belongs to somebody else."""

    code = "not_current_owner"


class ImmutableField(DomainError):
    """The field cannot be changed."""

    code = "immutable_field"

    def __init__(self, fields: list[str]) -> None:
        super().__init__(f"Cannot be changed: {', '.join(fields)}.", fields=fields)


class SessionHasSubSessions(DomainError):
    """The session has sub-sessions, or is one; its edges have to go first."""

    code = "session_has_sub_sessions"


class ChildHasHistory(DomainError):
    """Only a root session without edges of its own can become a child."""

    code = "child_has_history"


class ProjectMismatch(DomainError):
    """Parent and child belong to different projects."""

    code = "project_mismatch"


class DelegationCapacityExceeded(DomainError):
    """The project's limit does not allow another sub-session here."""

    code = "delegation_capacity_exceeded"

    def __init__(self, *, dimension: str, current: int, limit: int, session_id: str) -> None:
        super().__init__(
            f"The {dimension} would be {current}; the project allows {limit}.",
            dimension=dimension,
            current=current,
            limit=limit,
            sessionId=session_id,
        )
