"""Reading and writing records of the on-disk format; what other slices use of it is named here."""

from stores_app.disk.errors import DamagedRecord, NewerRecord, NotATree, RefusedFile
from stores_app.disk.files import Entry, Folder, Line, shown
from stores_app.disk.inventory import IGNORED, KNOWN, UNKNOWN, Found, take_inventory
from stores_app.disk.messages import MessageRecord, TornLine, canonical_line, read_message_line
from stores_app.disk.paths import (
    MESSAGES_FILE,
    PROJECT_FILE,
    PROJECTS,
    SESSION_FILE,
    SESSIONS,
    SUB_SESSION_FILE,
    SUB_SESSIONS,
    find_root,
    project_folder,
    run_folder,
    session_folder,
    sub_session_folder,
)
from stores_app.disk.records import (
    ProjectRecord,
    SessionRecord,
    SubSessionRecord,
    read_project,
    read_session,
    read_sub_session,
)

__all__ = [
    "IGNORED",
    "KNOWN",
    "MESSAGES_FILE",
    "PROJECTS",
    "PROJECT_FILE",
    "SESSIONS",
    "SESSION_FILE",
    "SUB_SESSIONS",
    "SUB_SESSION_FILE",
    "UNKNOWN",
    "DamagedRecord",
    "Entry",
    "Folder",
    "Found",
    "Line",
    "MessageRecord",
    "NewerRecord",
    "NotATree",
    "ProjectRecord",
    "RefusedFile",
    "SessionRecord",
    "SubSessionRecord",
    "TornLine",
    "canonical_line",
    "find_root",
    "project_folder",
    "read_message_line",
    "read_project",
    "read_session",
    "read_sub_session",
    "run_folder",
    "session_folder",
    "shown",
    "sub_session_folder",
    "take_inventory",
]
