"""One record of each kind as it travels, for the API's description; a test holds them against their schemas."""

from typing import Any

_TENANT_ID = "tnt_01k5c0m8ddfej9b3q1x7w2v4za"
_PROJECT_ID = "prj_01k5c0n1fxe8tb0g2m6y3s5r7c"
_ROOT_ID = "ses_01k5c0p4hze9wvk7d3n8q2t6ya"
_CHILD_ID = "ses_01k5c0qv6be3m9r5t1x8z4w2pd"
_SUB_ID = "sub_01k5c0qv6cf1hs7k2v9y5x3qne"

USER: dict[str, Any] = {"kind": "user", "userId": "usr_7k2m9q4x1c8v", "tenantId": _TENANT_ID}
AGENT: dict[str, Any] = {
    "kind": "agent", "agentId": "agt_reviewer", "tenantId": _TENANT_ID, "parentActor": USER
}  # fmt: skip

TENANT_IN: dict[str, Any] = {"name": "Northwind"}
TENANT: dict[str, Any] = {"id": _TENANT_ID, **TENANT_IN, "createdAt": "2026-04-18T10:58:12.004Z"}

PROJECT_IN: dict[str, Any] = {"name": "Checkout rewrite", "config": {"maxDelegationWidth": 16}}
PROJECT_PATCH: dict[str, Any] = {"config": {"maxDelegationDepth": 6, "sharedVaults": None}}
PROJECT: dict[str, Any] = {
    "id": _PROJECT_ID,
    "tenantId": _TENANT_ID,
    "name": "Checkout rewrite",
    "config": {
        "maxDelegationDepth": 4, "maxDelegationWidth": 16, "maxInterventionDepth": 10, "sharedDeliverables": False
    },
    "createdAt": "2026-04-18T11:00:00.241Z",
    "updatedAt": "2026-04-18T11:00:00.241Z",
}  # fmt: skip

SESSION_IN: dict[str, Any] = {"projectId": _PROJECT_ID, "currentActor": USER, "label": "Fix the cart total"}
SESSION: dict[str, Any] = {
    "id": _ROOT_ID,
    "projectId": _PROJECT_ID,
    "tenantId": _TENANT_ID,
    "label": "Fix the cart total",
    "status": "idle",
    "currentActor": USER,
    "previousActors": [],
    "workspaceId": None,
    "ownerVersion": 0,
    "createdAt": "2026-04-18T11:01:40.118Z",
    "updatedAt": "2026-04-18T11:01:40.118Z",
}
SESSION_PUT = SESSION | {"label": "Fix the cart total with a coupon", "status": "active"}

SUB_SESSION_IN: dict[str, Any] = {
    "parentSessionId": _ROOT_ID,
    "child": {"currentActor": AGENT, "label": "Review the fix"},
    "kind": "agent_spawn",
    "spawnedBy": USER,
}
SUB_SESSION: dict[str, Any] = {
    "id": _SUB_ID,
    "parentSessionId": _ROOT_ID,
    "childSessionId": _CHILD_ID,
    "tenantId": _TENANT_ID,
    "kind": "agent_spawn",
    "status": "pending",
    "spawnedBy": USER,
    "spawnedAt": "2026-04-18T11:04:31.700Z",
    "failureMode": "delegate",
    "completionMode": "summary_ref",
    "workspaceId": None,
    "updatedAt": "2026-04-18T11:04:31.700Z",
}
SUB_SESSION_PUT = SUB_SESSION | {"status": "active"}

_SPAWNED: dict[str, Any] = {
    "id": _CHILD_ID, "label": "Review the fix", "currentActor": AGENT, "createdAt": SUB_SESSION["spawnedAt"],
    "updatedAt": SUB_SESSION["spawnedAt"],
}  # fmt: skip
TREE_ITEM: dict[str, Any] = {
    "lineage": {"parentSessionId": _ROOT_ID, "rootSessionId": _ROOT_ID, "depth": 1},
    "session": SESSION | _SPAWNED,
    "subSession": SUB_SESSION,
}
DRILL: dict[str, Any] = {"session": SESSION, "children": [SUB_SESSION], "ancestry": [_ROOT_ID]}
