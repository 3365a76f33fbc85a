"""The only writers of tenants, projects, sessions and edges."""

from sessions_app.hierarchy.actions.edges import (
    delegate,
    delete_sub_session,
    link_session,
    replace_sub_session,
    spawn_session,
)
from sessions_app.hierarchy.actions.projects import (
    change_project,
    create_project,
    create_tenant,
    import_project,
    rename_tenant,
)
from sessions_app.hierarchy.actions.sessions import (
    create_session,
    delete_session,
    import_session,
    replace_session,
    take_keys,
)

__all__ = [
    "change_project",
    "create_project",
    "create_session",
    "create_tenant",
    "delegate",
    "delete_session",
    "delete_sub_session",
    "import_project",
    "import_session",
    "link_session",
    "rename_tenant",
    "replace_session",
    "replace_sub_session",
    "spawn_session",
    "take_keys",
]
