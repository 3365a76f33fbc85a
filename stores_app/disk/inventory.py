"""What lies in a tree, by kind: every name that is met has one, so that nothing is left out without being told."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from stores_app.disk.errors import RefusedFile
from stores_app.disk.files import Folder, shown

KNOWN = "known"  # read by its own reader
IGNORED = "ignored"  # left over from an interrupted write, or made by a desktop
UNKNOWN = "unknown"

_JUNK = re.compile(r"(.+\.tmp(\..+)?|\.DS_Store|Thumbs\.db|desktop\.ini|\._.+)", re.DOTALL)
_SESSION = r"projects/[^/]+/sessions/[^/]+"
_RUN = rf"{_SESSION}/runs/[^/]+(?:/children/[^/]+)?"
_TASKS = r"(?:tenants/[^/]+/)?tasks"
_MEMORY = r"(?:projects/[^/]+/)?memory"

# By path below the root. A folder's kind says that it counts as a whole; one of kind `walked` is entered.
_FILES = {
    KNOWN: (
        rf"projects/[^/]+/project\.json|{_SESSION}/(?:session\.json|messages\.jsonl)"
        rf"|{_SESSION}/subsessions/[^/]+/subsession\.json"
    ),
    "summaries": rf"{_SESSION}/summary\.json",
    "emergencySaves": rf"{_SESSION}/emergency/[^/]+\.json",
    "runIndexes": rf"{_SESSION}/runs/index\.json",
    "runs": rf"{_RUN}/run\.json",
    "runArtifacts": rf"{_RUN}/(?:messages\.json|transcript\.jsonl|report\.md)",
    "checkpoints": rf"{_RUN}/checkpoints/[^/]+\.json",
    "tasks": rf"{_TASKS}/[^/]+/[^/]+\.json",
    "memories": rf"{_MEMORY}/content/[^/]+\.json",
    "memoryIndexes": rf"{_MEMORY}/index\.json",
    "migrationMarkers": r"\.migration/v[^/]+",
}
_FOLDERS = {
    KNOWN: r"projects",
    "walked": (
        rf"projects/[^/]+/sessions|{_SESSION}/(?:subsessions(?:/[^/]+)?|emergency|runs)|{_RUN}(?:/(?:checkpoints|children))?"
        rf"|tenants(?:/[^/]+)?|{_TASKS}(?:/[^/]+)?|{_MEMORY}(?:/content)?|archive|\.migration|worktrees|threads"
    ),
    "archiveBundles": r"archive/[^/]+",
    "worktrees": r"worktrees/[^/]+",
    "legacyThreads": r"threads/[^/]+",
}


def _one_pattern(kinds: dict[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()), re.DOTALL)


_FILE = _one_pattern(_FILES)
_FOLDER = _one_pattern(_FOLDERS)


class Found(NamedTuple):
    """One thing in the tree: its path below the root and its kind; `problem` where it was not looked at."""

    path: str
    kind: str
    problem: RefusedFile | None = None


def take_inventory(
    folder: Folder, *, without: frozenset[str] = frozenset(), enter_folders: bool = True
) -> Iterator[Found]:
    """Everything below the folder, links not followed.

    Left alone is what `without` names on this level, and the folders where `enter_folders` is off.
    """
    try:
        entries = folder.entries()
    except RefusedFile as problem:
        yield Found(problem.file, UNKNOWN, problem)
        return
    for name, entry_kind in entries:
        path = shown(folder.path / name)
        if name in without:
            continue
        if entry_kind == "folder":
            if enter_folders:
                yield from _in_folder(folder, name, path)
        elif entry_kind == "file" or _kind_of_file(name, path) == KNOWN:  # what is read tells itself of a link
            yield Found(path, _kind_of_file(name, path))
        else:
            what = "is a symbolic link; it is not followed" if entry_kind == "link" else "is not a regular file"
            yield Found(path, UNKNOWN, RefusedFile(path, "", what))


def _in_folder(folder: Folder, name: str, path: str) -> Iterator[Found]:
    match = _FOLDER.fullmatch(path)
    kind = match.lastgroup or UNKNOWN if match else UNKNOWN
    if kind != "walked":
        yield Found(path, IGNORED if kind == UNKNOWN and _JUNK.fullmatch(name) else kind)
        return
    try:
        inner = folder.folder(name)
    except RefusedFile as problem:
        yield Found(path, UNKNOWN, problem)
        return
    if inner is not None:
        with inner:
            yield from take_inventory(inner)


def _kind_of_file(name: str, path: str) -> str:
    if _JUNK.fullmatch(name):
        return IGNORED
    match = _FILE.fullmatch(path)
    return match.lastgroup or UNKNOWN if match else UNKNOWN
