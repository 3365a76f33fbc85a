"""Small pieces of every page: icons, statuses, times, ids, actors."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from sessions_app.hierarchy.models import Session, SubSession
from sessions_app.hierarchy.rules import ACTOR_REFS
from sessions_app.wire.times import to_wire
from sessions_app.wire.visible import visible_text

register = template.Library()

# Status → the words that are shown. The icon and the colour go by the status itself (icons.svg, chips.css).
STATUS_WORDS = {
    "active": "Active",
    "idle": "Idle",
    "locked": "Locked",
    "awaiting_hitl": "Awaits a person",
    "awaiting_merge": "Awaits merge",
    "failed": "Failed",
    "archived": "Archived",
    "pending": "Pending",
    "pending_merge": "To be merged",
    "merging": "Merging",
    "merged": "Merged",
    "merge_conflict": "Merge conflict",
    "merge_rejected": "Merge rejected",
}
EDGE_WORDS = {
    "root": "Root",
    "agent_spawn": "Agent spawn",
    "user_handoff": "Hand-off",
    "intervention": "Intervention",
}
_OUTCOMES = frozenset({"pending_merge", "merging", "merged", "merge_conflict", "merge_rejected"})
_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"), (2592000, 86400, "d"), (31536000, 2592000, "mo"))
_SHORT_ID = 20


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """The icon of this name from the sprite; decoration, so hidden from assistive technology."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"></use></svg>', extra, static("img/icons.svg"), name
    )


@register.simple_tag
def status_chip(status: str) -> SafeString:
    """The status as icon, word and colour."""
    known = status if status in STATUS_WORDS else "pending"
    words = STATUS_WORDS.get(status, status)
    return format_html('<span class="chip chip--{}">{}<span>{}</span></span>', known, icon(f"status-{known}"), words)


@register.filter
def status_at_end(edge: SubSession) -> str:
    """What the session at the edge's end is at: archived with the edge, whatever its row said last."""
    return "archived" if edge.status == "archived" else edge.child.status


@register.filter
def is_outcome(status: str) -> bool:
    """Whether this status of an edge says what the session below cannot: how far its way back has come."""
    return status in _OUTCOMES


@register.filter
def status_words(status: str) -> str:
    """What a status is called on pages."""
    return STATUS_WORDS.get(status, status)


@register.simple_tag
def edge_kind(kind: str) -> SafeString:
    """How a session came to be: an icon and a word. Empty kind: a root."""
    known = kind if kind in EDGE_WORDS else "root"
    return format_html('<span class="edge">{}<span>{}</span></span>', icon(f"edge-{known}"), EDGE_WORDS[known])


@register.simple_tag
def when(instant: datetime | None) -> SafeString | str:
    """The instant as a relative time, with UTC at hand; the script adds the local time and keeps it current."""
    if instant is None:
        return "–"
    wire = to_wire(instant)
    utc = wire.replace("T", " ").replace("Z", " UTC")
    words = relative_time(instant, timezone.now())
    return format_html('<time datetime="{}" title="{}" data-relative>{}</time>', wire, utc, words)


def relative_time(instant: datetime, now: datetime) -> str:
    """`3 min ago`, `in 2 h`, `just now`."""
    seconds = round((now - instant).total_seconds())
    away = abs(seconds)
    if away < 5:
        return "just now"
    size, unit = next(((size, unit) for limit, size, unit in _STEPS if away < limit), (31536000, "y"))
    words = f"{away // size} {unit}"
    return f"in {words}" if seconds < 0 else f"{words} ago"


@register.simple_tag
def id_copy(value: str | None, short: bool = False) -> SafeString | str:
    """The id in monospace with a button that copies the whole of it; `short` cuts its middle out."""
    if not value:
        return "–"
    shown = value if not short or len(value) <= _SHORT_ID else f"{value[:8]}…{value[-8:]}"
    return format_html(
        '<span class="id"><code title="{0}">{1}</code>'
        '<button type="button" class="copy" data-copy="{0}" aria-label="Copy {0}">{2}</button></span>',
        value,
        shown,
        icon("copy"),
    )


@register.simple_tag
def copy_button(text: str, label: str = "Copy") -> SafeString:
    """A button that copies the text."""
    return format_html(
        '<button type="button" class="copy" data-copy="{}" aria-label="{}">{}</button>',
        escape(text),  # what stands literally in a template counts as safe, and a command may hold < and &
        escape(label),
        icon("copy"),
    )


@register.simple_tag
def command_line(text: str) -> SafeString:
    """A command to be typed, with a button that copies it."""
    return format_html('<p class="command"><code>{}</code>{}</p>', escape(text), copy_button(text, f"Copy {text}"))


@register.simple_tag
def session_title(session: Session, with_id: bool = False) -> SafeString:
    """The session's label, else its first user line, with nothing hidden in it; `with_id` where no id stands nearby."""
    return title_or_id(session.title, session.public_id, with_id)


@register.simple_tag
def title_or_id(title: str, public_id: str, with_id: bool = True) -> SafeString:
    """The title; where there was only the id to take for one, that the session is untitled, and which it is."""
    if title != public_id:
        return format_html("<bdi>{}</bdi>", mark_safe(visible_text(title)))  # noqa: S308 - escaped there
    which = format_html(' <code class="untitled-id">{}</code>', public_id) if with_id else ""
    return format_html('<span class="untitled">Untitled</span>{}', which)


@register.filter
def grouped(number: int) -> str:
    """`12,345`."""
    return f"{number:,}"


@register.filter
def up_to(number: int, limit: int) -> str:
    """The number, or `1,000+` where counting stopped behind the limit."""
    return f"{limit:,}+" if number > limit else f"{number:,}"


@register.simple_tag
def actor(value: Mapping[str, Any] | None) -> SafeString:
    """The actor as icon and id, with the chain back to the person in the title; None: nobody owns it."""
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if value is None or kind not in ACTOR_REFS:
        return format_html('<span class="actor quiet">{}<span>No owner</span></span>', icon("actor-none"))
    return format_html(
        '<span class="actor" title="{}">{}<span class="mono">{}</span></span>',
        _chain(value),
        icon(f"actor-{kind}"),
        value.get(ACTOR_REFS[kind], "?"),
    )


def _chain(value: Mapping[str, Any]) -> str:
    """`agent agt_x ‹ user usr_y`."""
    steps: list[str] = []
    level: Any = value
    while isinstance(level, Mapping) and level.get("kind") in ACTOR_REFS and len(steps) < 32:
        steps.append(f"{level['kind']} {level.get(ACTOR_REFS[level['kind']], '?')}")
        level = level.get("parentActor")
    return " ‹ ".join(steps)
