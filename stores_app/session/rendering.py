"""HTML of messages from the cache, and what is missing there made and kept: one read, and one write at most."""

import hashlib
import logging
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from django.db import DatabaseError, connection, transaction

from sessions_app.wire import visible
from stores_app.session import article, body, json_tree, markdown, output, pairing
from stores_app.session.models import Message, RenderedMessage

_MADE_BY = (article, body, json_tree, markdown, output, pairing, visible)
_AT_ONCE = 16  # messages in memory; one may have 16 MiB
_LIBRARIES = ("markdown-it-py", "pygments", "nh3")
# Sealed sessions are not written below (domain.md §13); the row lock is the one a foreign key would take anyway.
_KEEP = """
    WITH live AS (SELECT id FROM sessions_app_session WHERE id = %s AND sealed_at IS NULL FOR KEY SHARE SKIP LOCKED)
    INSERT INTO stores_app_renderedmessage (session_id, seq, renderer, html)
    SELECT live.id, made.seq, %s, made.html
    FROM live CROSS JOIN unnest(%s::bigint[], %s::text[]) AS made(seq, html)
    ORDER BY made.seq
    ON CONFLICT (session_id, seq) DO UPDATE SET renderer = excluded.renderer, html = excluded.html
    WHERE stores_app_renderedmessage.renderer <> excluded.renderer
"""

log = logging.getLogger(__name__)


def _version() -> str:
    """Changes with the code that makes the HTML and with the libraries it uses."""
    digest = hashlib.sha256()
    for module in _MADE_BY:
        digest.update(Path(str(module.__file__)).read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}".encode())
    return digest.hexdigest()[:32]


RENDERER = _version()


def articles(session_id: int, seqs: Iterable[int]) -> dict[int, str]:
    """The HTML of each of these messages, by number; slots are not filled yet."""
    wanted = sorted(seqs)
    kept = RenderedMessage.objects.made_by(RENDERER, session_id, wanted)
    html = dict(kept.values_list("seq", "html"))
    missing = [seq for seq in wanted if seq not in html]
    if missing:
        made = dict(_make(session_id, missing))
        _keep(session_id, made)
        html |= made
    return html


def _make(session_id: int, seqs: list[int]) -> Iterable[tuple[int, str]]:
    rows = Message.objects.of_session(session_id).filter(seq__in=seqs)
    for public_id, seq, role, at, raw in rows.values_list("public_id", "seq", "role", "at", "raw").iterator(_AT_ONCE):
        source = article.Source(public_id=public_id, seq=seq, role=role, at=at, raw=bytes(raw))
        yield seq, article.article(source)


def _keep(session_id: int, made: Mapping[int, str]) -> None:
    """Keeps what was made; where the database won't take it (a read-only replica), the page does without."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_KEEP, [session_id, RENDERER, list(made.keys()), list(made.values())])
    except DatabaseError:
        log.warning("The rendered messages of session %s were not kept", session_id, exc_info=True)
