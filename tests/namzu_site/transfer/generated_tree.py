"""Trees of any size in the runtime's layout, for tests that need many sessions."""

import json
from pathlib import Path
from typing import Any

TENANT = "tnt_generated"
PROJECT = "prj_generated"
AT = "2026-04-18T11:00:00.241Z"
ACTOR = {"kind": "user", "userId": "usr_ada", "tenantId": TENANT}
WIDTH = 10  # so many sessions make a tree: a root and its children


def write_tree(root: Path, *, sessions: int, messages: int, text: str = "What the message says. " * 20) -> Path:
    """The root, with a project of that many sessions."""
    project = root / "projects" / PROJECT
    write_json(project / "project.json", project_record())
    for number in range(sessions):
        folder = project / "sessions" / session_id(number)
        write_json(folder / "session.json", session_record(number))
        (folder / "messages.jsonl").write_text("".join(message_line(number, n, text) for n in range(messages)))
        if number % WIDTH:
            write_edge(project, number - number % WIDTH, number)
    return root


def project_record(**changes: Any) -> dict[str, Any]:
    record = {"id": PROJECT, "tenantId": TENANT, "name": "Generated", "config": {}, "createdAt": AT, "updatedAt": AT}
    return {**record, **changes}


def session_id(number: int) -> str:
    return f"ses_generated{number:06}"


def session_record(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": session_id(number),
        "projectId": PROJECT,
        "tenantId": TENANT,
        "status": "idle",
        "currentActor": ACTOR,
        "previousActors": [],
        "workspaceId": None,
        "ownerVersion": 0,
        "createdAt": AT,
        "updatedAt": AT,
        **changes,
    }


def message_line(session: int, number: int, text: str = "Hello") -> str:
    """One line as the runtime writes it, with its newline."""
    line = {
        "id": f"msg_generated{number:06}",
        "sessionId": session_id(session),
        "tenantId": TENANT,
        "message": {"role": "user" if number % 2 == 0 else "assistant", "content": text},
        "at": AT,
    }
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n"


def edge_record(parent: int, child: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"sub_generated{child:06}",
        "parentSessionId": session_id(parent),
        "childSessionId": session_id(child),
        "tenantId": TENANT,
        "kind": "agent_spawn",
        "status": "active",
        "spawnedBy": ACTOR,
        "spawnedAt": AT,
        "failureMode": "delegate",
        "completionMode": "summary_ref",
        "workspaceId": None,
        "updatedAt": AT,
        **changes,
    }


def write_edge(project: Path, parent: int, child: int, **changes: Any) -> Path:
    record = edge_record(parent, child, **changes)
    file = project / "sessions" / session_id(parent) / "subsessions" / record["id"] / "subsession.json"
    return write_json(file, record)


def write_json(file: Path, record: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=2, ensure_ascii=False))
    return file
