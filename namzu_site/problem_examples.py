"""One failure of each kind, as its callers meet it: for the API's description."""

import json
from typing import Any

from namzu_site.http_errors import problem_of
from sessions_app.access import errors as access
from sessions_app.hierarchy import errors as hierarchy
from sessions_app.hierarchy.schemas import examples
from sessions_app.wire import errors as wire
from stores_app.session import errors as messages

_PARENT, _CHILD = examples.SUB_SESSION["parentSessionId"], examples.SUB_SESSION["childSessionId"]

EXAMPLES: tuple[wire.DomainError, ...] = (
    wire.NotFound("session", _CHILD),
    wire.InvalidRequest.at("body.name", "Field required"),
    wire.MalformedBody("Not JSON: JSON is malformed: expected ':' (byte 8)"),
    wire.UnsupportedMedia("Send application/json, not text/plain."),
    wire.BodyTooLarge(16 * 1024 * 1024),
    wire.BodyTooSlow(),
    wire.IdempotencyMismatch(),
    wire.IdempotencyInProgress(),
    wire.PreconditionFailed(actual='"5d0c2f7a91be4483c6f01a2e"'),
    wire.DatabaseUnavailable(),
    wire.Busy(),
    access.NotAuthenticated(),
    access.InsufficientScope(required="operator", actual="runner"),
    access.TenantIsolation(tenantId="tnt_another"),
    hierarchy.IdTaken(examples.PROJECT["id"]),
    hierarchy.IllegalTransition(before="failed", after="active", allowed=["idle"]),
    hierarchy.AncestryCycle(_PARENT),
    hierarchy.AlreadyLinked(_CHILD),
    hierarchy.TreeTooDeep(depth=33, limit=32),
    hierarchy.SessionArchived(sessionId=_CHILD),
    hierarchy.NotCurrentOwner(sessionId=_CHILD, currentActor=examples.USER),
    hierarchy.ImmutableField(["projectId"]),
    hierarchy.SessionHasSubSessions(sessionId=_PARENT),
    hierarchy.ChildHasHistory(childSessionId=_CHILD),
    hierarchy.ProjectMismatch(parentSessionId=_PARENT, childSessionId=_CHILD),
    hierarchy.DelegationCapacityExceeded(dimension="width", current=17, limit=16, session_id=_PARENT),
    messages.InvalidMessage("message.role", "Invalid enum value 'robot'"),
)
_BY_CLASS = {type(example): example for example in EXAMPLES}


def example_of(failure: type[wire.DomainError]) -> dict[str, Any]:
    """The problem that such a failure is answered with."""
    example: dict[str, Any] = json.loads(problem_of(_BY_CLASS[failure]).content)
    return example
