"""Large trees made in two statements, valid in every column."""

import json
from datetime import timedelta

from django.db import connection

from sessions_app.hierarchy.actions import take_keys
from sessions_app.hierarchy.models import Project
from sessions_app.hierarchy.rules import child_path
from sessions_app.wire.times import now_ms


def make_tree(project: Project, size: int, *, width: int = 100) -> str:
    """Public id of the root of a new tree with `size` sessions below it: `width` children, the rest below the first."""
    now = now_ms()
    by = json.dumps({"kind": "system", "role": "sys_tests", "tenantId": project.tenant.public_id})
    root, first, *_ = keys = take_keys(size + 1)
    rows = [(root, f"ses_t{root}", root, 0, "", None)]
    edges = []
    for number, key in enumerate(keys[1:]):
        spawned_at, public_id = now + timedelta(milliseconds=number), f"sub_t{key}"
        parent, depth = (root, 1) if number < width else (first, 2)
        place = child_path("" if depth == 1 else child_path("", now, f"sub_t{first}"), spawned_at, public_id)
        rows.append((key, f"ses_t{key}", root, depth, place, None))
        edges.append((public_id, parent, key, spawned_at))
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO sessions_app_session (id, public_id, root_id, depth, path, label, tenant_id, project_id,"
            " status, previous_actors, owner_version, last_seq, extra, created_at, updated_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'idle', '[]', 0, 0, '{}', %s, %s)",
            [(*row, project.tenant_id, project.pk, now, now) for row in rows],
        )
        cursor.executemany(
            "INSERT INTO sessions_app_subsession (public_id, parent_id, child_id, tenant_id, kind, status, spawned_by,"
            " spawned_at, failure_mode, completion_mode, extra, updated_at)"
            " VALUES (%s, %s, %s, %s, 'agent_spawn', 'idle', %s, %s, 'delegate', 'summary_ref', '{}', %s)",
            [(public_id, parent, child, project.tenant_id, by, at, now) for public_id, parent, child, at in edges],
        )
    return f"ses_t{root}"
