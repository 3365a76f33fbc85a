"""Who acts, and what a scope allows."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, Self

from sessions_app.access.errors import InsufficientScope


class Scope(IntEnum):
    """What a credential may do; each includes the ones before it."""

    READ = 0
    RUNNER = 1
    OPERATOR = 2
    ADMIN = 3

    @classmethod
    def of(cls, word: str) -> Self:
        return cls[word.upper()]

    @property
    def word(self) -> str:
        return self.name.lower()


SCOPES = tuple(scope.word for scope in Scope)
ROLE_SCOPES = {"viewer": Scope.READ, "operator": Scope.OPERATOR, "admin": Scope.ADMIN}


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts: a key, a signed-in person, or a command of the installation's operator.

    `tenant_id` is None where every tenant may be named (platform keys, platform administrators, commands);
    `actor` is the domain actor the credential is bound to, if any.
    """

    kind: Literal["key", "user", "command"]
    ref: str
    scope: Scope
    tenant_id: int | None
    actor: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.ref}"

    def check_scope(self, required: Scope) -> None:
        """Raises InsufficientScope."""
        if self.scope < required:
            raise InsufficientScope(required=required.word, actual=self.scope.word)


def command(name: str) -> Principal:
    """The principal of a management command."""
    return Principal(kind="command", ref=name, scope=Scope.ADMIN, tenant_id=None)
