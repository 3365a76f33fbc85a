"""Where things lie in a runtime's tree: import, export and watch all ask here (domain.md §14).

All paths are relative to the root, except that of the root itself.
"""

from pathlib import Path, PurePosixPath

from sessions_app.ids import check_id
from stores_app.disk.errors import NotATree

PROJECTS = "projects"
THREADS = "threads"  # what was written before there were projects
SESSIONS = "sessions"
SUB_SESSIONS = "subsessions"
PROJECT_FILE = "project.json"
SESSION_FILE = "session.json"
MESSAGES_FILE = "messages.jsonl"
SUB_SESSION_FILE = "subsession.json"
_RUNS = "runs"
_CHILD_RUNS = "children"
_HIDDEN_ROOT = ".namzu"


def find_root(folder: Path) -> Path:
    """The folder itself where it holds `projects/` or `threads/`, else the `.namzu` in it that does.

    Raises NotATree, OSError where it cannot be looked into.
    """
    if not folder.is_dir():
        reason = "is not a folder" if folder.exists() else "does not exist"
        raise NotATree(f"{folder} {reason}.")
    for root in (folder.resolve(), folder.resolve() / _HIDDEN_ROOT):
        if any((root / name).is_dir() for name in (PROJECTS, THREADS)):
            if root.is_symlink():
                raise NotATree(f"{root} is a symbolic link: name the folder it points at.")
            return root
    raise NotATree(
        f"{folder} holds no runtime state: looked for {PROJECTS}/ or {THREADS}/ in it, and in {folder / _HIDDEN_ROOT}."
    )


def project_folder(project_id: str) -> PurePosixPath:
    """`projects/<prj>`; raises BadId."""
    return PurePosixPath(PROJECTS, check_id("prj", project_id))


def session_folder(project_id: str, session_id: str) -> PurePosixPath:
    """`projects/<prj>/sessions/<ses>`; raises BadId."""
    return project_folder(project_id) / SESSIONS / check_id("ses", session_id)


def sub_session_folder(project_id: str, session_id: str, sub_session_id: str) -> PurePosixPath:
    """`…/subsessions/<sub>` below the parent session; raises BadId."""
    return session_folder(project_id, session_id) / SUB_SESSIONS / check_id("sub", sub_session_id)


def run_folder(project_id: str, session_id: str, run_id: str, parent_run_id: str | None = None) -> PurePosixPath:
    """`…/runs/<run>`, or `…/runs/<parent>/children/<run>` for a child run; raises BadId."""
    runs = session_folder(project_id, session_id) / _RUNS
    if parent_run_id is not None:
        runs = runs / check_id("run", parent_run_id) / _CHILD_RUNS
    return runs / check_id("run", run_id)
