"""Importing whole trees (domain.md §14)."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path, PurePosixPath

from namzu_site.transfer.edges import EdgeQueue, link_edges
from namzu_site.transfer.projects import take_project
from namzu_site.transfer.report import ImportReport
from namzu_site.transfer.sessions import take_session
from namzu_site.transfer.tree import Progress, TreeImport, check_kept_id, kept_session_id
from sessions_app.access.rules import Principal
from sessions_app.hierarchy.models import Project, Session
from sessions_app.hierarchy.rules import is_id
from sessions_app.ids import BadId
from stores_app.disk import (
    PROJECTS,
    SESSIONS,
    Folder,
    RefusedFile,
    find_root,
    project_folder,
    session_folder,
    shown,
    take_inventory,
)

_AT_ONCE = 500


class _Unwatched:
    """Nobody is told how far the import has come."""

    def total(self, sessions: int) -> None: ...

    def session_done(self) -> None: ...

    def linking(self, sub_sessions: int) -> None: ...

    def link_done(self) -> None: ...


def import_tree(folder: Path, *, by: Principal, now: datetime, progress: Progress | None = None) -> ImportReport:
    """The report, after every project, session, message and edge that can be taken is in the database.

    `folder` holds `projects/`, or is the parent of a `.namzu` that does. Each session is a transaction, then each edge:
    stopped anywhere and done again, the end is the same. Twice changes nothing, and a tree that has grown adds what is
    new. Raises NotATree, OSError where the folder cannot be looked into.
    """
    path = find_root(folder)
    with Folder.of_root(path) as root:
        tree = TreeImport(root, by, now, ImportReport(str(path)), progress or _Unwatched())
        projects = _folders(tree, PurePosixPath(PROJECTS))
        tree.progress.total(sum(_count_sessions(tree, name) for name in projects))
        tree.count_found(take_inventory(root, without=frozenset({PROJECTS})))
        edges = EdgeQueue(tree)
        for name in projects:
            _take_project(tree, edges, name)
        link_edges(tree, edges)
        return tree.report


def _take_project(tree: TreeImport, edges: EdgeQueue, name: str) -> None:
    folder = _open(tree, PurePosixPath(PROJECTS, name), lambda: project_folder(name))
    if folder is None:
        _report_left_out(tree, name)
        return
    with folder:
        tree.count_found(take_inventory(folder, without=frozenset({SESSIONS})))
        project = take_project(tree, folder)
        names = _folders(tree, folder.path / SESSIONS)
    if project is None:
        _report_left_out(tree, name)
        return
    tree.projects[project.public_id] = project
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        known = _known_sessions(project, some)
        for session_id in some:
            _take_session(tree, edges, project, session_id, known)


def _report_left_out(tree: TreeImport, project: str) -> None:
    """The project cannot be used: so many sessions go with it."""
    count = _count_sessions(tree, project)
    if count:
        reason = f"{count:,} session{'s are' if count > 1 else ' is'} left out with their project"
        tree.report.reported.add(shown(PurePosixPath(PROJECTS, project, SESSIONS)), "", reason, "left_out")


def _take_session(tree: TreeImport, edges: EdgeQueue, project: Project, name: str, known: dict[str, Session]) -> None:
    place = PurePosixPath(PROJECTS, project.public_id, SESSIONS, name)

    def checked() -> PurePosixPath:
        path = session_folder(project.public_id, name)
        check_kept_id(project.public_id, name)
        return path

    folder = _open(tree, place, checked)
    if folder is not None:
        with folder:
            tree.count_found(take_inventory(folder))
            take_session(tree, project, folder, known.get(kept_session_id(project.public_id, name)))
            edges.collect(project, folder)  # also where the session was left out: then they are told of, one by one
    tree.progress.session_done()


def _known_sessions(project: Project, names: list[str]) -> dict[str, Session]:
    """Those of these names that are here; what is no id is not asked for, and told of when its turn comes."""
    ids = [kept_session_id(project.public_id, name) for name in names if is_id("ses", name)]
    rows = Session.objects.filter(tenant_id=project.tenant_id, public_id__in=ids)
    return {row.public_id: row for row in rows}


def _open(tree: TreeImport, place: PurePosixPath, checked: Callable[[], PurePosixPath]) -> Folder | None:
    """The folder, None where its name is no id or it is not to be entered; that is reported."""
    try:
        return tree.root.folder(checked())
    except BadId as error:
        tree.report.reported.add(shown(place), "", f"the folder's name: {error}", "damaged")
    except RefusedFile as refusal:
        tree.report.reported.add_damage(refusal)
    return None


def _folders(tree: TreeImport, place: PurePosixPath) -> list[str]:
    """The names of the folders in this one; what else lies there is counted or reported."""
    try:
        folder = tree.root.folder(place)
        if folder is None:
            return []
        with folder:
            tree.count_found(take_inventory(folder, enter_folders=False))
            return [name for name, kind in folder.entries() if kind == "folder"]
    except RefusedFile as refusal:
        tree.report.reported.add_damage(refusal)
        return []


def _count_sessions(tree: TreeImport, project: str) -> int:
    """For the progress alone: what is wrong with the folder is told when it is entered."""
    try:
        folder = tree.root.folder(PurePosixPath(PROJECTS, project, SESSIONS))
        if folder is None:
            return 0
        with folder:
            return sum(kind == "folder" for _, kind in folder.entries())
    except RefusedFile:
        return 0
