"""One message as an `<article>`: safe HTML that holds nothing of the reader, the moment or the request.

Links are relative to the session's page. Three kinds of slots are filled when a page is put together, since a message
never changes but its company does: what a call came to, its result, and why a result stands alone.
"""

from dataclasses import dataclass
from datetime import datetime
from html import escape
from urllib.parse import quote

from sessions_app.wire.times import to_wire
from sessions_app.wire.visible import one_line, visible_text
from stores_app.session.body import Body, Call, read_body
from stores_app.session.json_tree import Budget, NotJson, Number, Pairs, read_container, read_tree, tree
from stores_app.session.output import SHORT, Form, Passage, block, passage

ROLE_WORDS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool result"}
ALONE_SLOT = "<!--alone-->"
_FORMS = {"user": Form.TYPED, "assistant": Form.MARKDOWN}
_PREVIEW = 120
_MOST_FIELDS = 50


def state_slot(index: int) -> str:
    """Where the state of this call goes."""
    return f"<!--state:{index}-->"


def result_slot(index: int) -> str:
    """Where the result of this call goes."""
    return f"<!--result:{index}-->"


def call_mark(index: int) -> str:
    """The beginning of this call's element, ` open` goes behind it. No text can look like it: its `<` is escaped."""
    return f'<details class="call" data-call="{index}"'


@dataclass(frozen=True, slots=True)
class Source:
    """A message as it is kept: `raw` is its JSON text."""

    public_id: str
    seq: int
    role: str
    at: datetime
    raw: bytes


def article(source: Source) -> str:
    """The message's HTML, with its slots."""
    body = read_body(source.raw)
    parts = [_head(source, body), _content(source, body)]
    if body.calls:
        parts.append(_calls(source, body))
    if body.more:
        parts.append(_more_fields(body.more))
    name, role = escape(source.public_id), escape(source.role)
    words = ROLE_WORDS.get(source.role, source.role)
    return (
        f'<article class="message message--{role}" id="{name}" aria-label="{escape(words)}, message {source.seq}">'
        f"{''.join(parts)}</article>"
    )


def form_of(role: str) -> Form:
    """How the content of a message with this role is to be read."""
    return _FORMS.get(role, Form.PLAIN)


def _head(source: Source, body: Body) -> str:
    there, name = _address(source), quote(source.public_id, safe="")
    wire = to_wire(source.at)
    utc = wire.replace("T", " ").replace("Z", " UTC")
    answers = f' <code class="message-call">{one_line(body.answers, 60)}</code>' if body.answers else ""
    hint = f' <span class="message-hint">cache: {one_line(body.cache_hint, 20)}</span>' if body.cache_hint else ""
    return (
        f'<header class="message-head"><span class="message-role">{ROLE_WORDS.get(source.role, "Message")}</span>'
        f'{answers}{hint}<span class="message-end">'
        f'<button type="button" class="message-copy" data-copy-message="{there}raw/" hidden>Copy</button>'
        f'<a class="message-json" href="{there}raw/">JSON</a>'
        f'<a class="message-link" href="?at={name}#{name}" aria-label="Link to message {source.seq}">'
        f'#{source.seq}</a><time datetime="{wire}" title="{utc}" data-relative>{utc}</time></span></header>'
    )


def _content(source: Source, body: Body) -> str:
    alone = ALONE_SLOT if source.role == "tool" else ""
    if not body.readable:
        shown = passage(body.content or "", Form.PLAIN)
        return f'{alone}<p class="message-note">This record could not be read; its text:</p>{_block(source, shown)}'
    if body.content is None:
        return alone if body.calls else f'{alone}<p class="message-note">No content</p>'
    if not body.content.strip():
        return alone if body.calls else f'{alone}<p class="message-note">Empty</p>'
    return alone + _block(source, passage(body.content, form_of(source.role)))


def _block(source: Source, shown: Passage) -> str:
    return block(shown, f"{_address(source)}full/")


def _calls(source: Source, body: Body) -> str:
    calls = "".join(_call(source, index, call) for index, call in enumerate(body.calls))
    more = f'<p class="message-note">{body.more_calls:,} more calls: see the JSON</p>' if body.more_calls else ""
    return f'<div class="calls">{calls}{more}</div>'


def _call(source: Source, index: int, call: Call) -> str:
    name = visible_text(call.name[:200]) or "unnamed tool"
    return (
        f'{call_mark(index)}><summary><span class="call-name">{name}</span> '
        f'<span class="call-preview">{_preview(call.arguments)}</span>{state_slot(index)}</summary>'
        f'<div class="call-arguments"><p class="call-label">Arguments'
        f'{_arguments_note(call.arguments)} <code class="message-call">{one_line(call.id, 60)}</code></p>'
        f"{block(passage(call.arguments, Form.PLAIN), f'{_address(source)}full/?call={index}')}</div>"
        f"{result_slot(index)}</details>"
    )


def _arguments_note(arguments: str) -> str:
    if not arguments.strip():
        return ' <span class="badge">none</span>'
    try:
        read_tree(arguments)
    except NotJson:
        return ' <span class="badge call-not-json">not JSON</span>'
    return ""


def _preview(arguments: str) -> str:
    """The first arguments on one line: `path: src/cart.ts, limit: 20`."""
    try:
        value = read_container(arguments) if len(arguments) <= SHORT else None
    except NotJson:
        value = None
    if not isinstance(value, Pairs):
        return one_line(arguments, _PREVIEW)
    return one_line(", ".join(f"{name}: {_short(item)}" for name, item in value[:6]), _PREVIEW)


def _short(item: object) -> str:
    if isinstance(item, (str, Number)):
        return item[:_PREVIEW]
    if isinstance(item, (Pairs, list)):
        return "{…}" if isinstance(item, Pairs) else f"[{len(item)}]"
    return {None: "null", True: "true", False: "false"}.get(item, "") if isinstance(item, bool | None) else ""


def _more_fields(more: dict[str, str]) -> str:
    budget = Budget(SHORT)
    shown = Pairs((name, _field(text)) for name, text in list(more.items())[:_MOST_FIELDS])
    html = tree(shown, budget)
    names = ", ".join(list(more)[:4])
    return (
        f'<details class="message-fields"><summary>More fields <span>{one_line(names, 80)}</span></summary>'
        f"<div hx-ignore>{html}</div></details>"
    )


def _field(text: str) -> object:
    try:
        return read_tree(text[: SHORT + 1])
    except NotJson:
        return text[:SHORT]


def _address(source: Source) -> str:
    return f"messages/{quote(source.public_id, safe='')}/"
