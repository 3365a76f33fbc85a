"""The text of a message as a block of HTML: shortened where it is long, saying how much of it is shown."""

from dataclasses import dataclass
from enum import Enum
from html import escape

from sessions_app.wire.visible import visible_text
from stores_app.session.json_tree import Budget, NotJson, read_container, tree
from stores_app.session.markdown import markdown_html

SHORT = 20_000  # characters of a text that a transcript shows
WHOLE = 1_048_576  # characters that "show all" gives at once; a link leads on from there
MOST_MARKDOWN = 200_000  # longer ones are shown as they were written


class Form(Enum):
    """How a text is to be read."""

    MARKDOWN = "markdown"
    TYPED = "typed"  # markdown in which each line end counts
    PLAIN = "plain"  # preformatted, or a folding tree where it is JSON


@dataclass(frozen=True, slots=True)
class Passage:
    """The HTML of the part of a text that is shown: `until` of `length` characters."""

    html: str
    until: int
    length: int

    @property
    def is_whole(self) -> bool:
        return self.until >= self.length


def passage(text: str, form: Form, *, start: int = 0, most: int = SHORT) -> Passage:
    """The text from `start` on, at most about `most` characters of it."""
    if form is Form.PLAIN and start == 0 and (folded := _folded(text, most)):
        return folded
    until = _cut(text, start, most)
    part = text[start:until]
    if form is Form.PLAIN or start > 0 or (until < len(text) and most > SHORT) or len(part) > MOST_MARKDOWN:
        html = f'<pre class="text">{visible_text(part)}</pre>'
    else:
        html = f'<div class="prose">{markdown_html(part, breaks=form is Form.TYPED)}</div>'
    return Passage(html, until, len(text))


def block(shown: Passage, more_url: str, *, swaps: str = "closest .output") -> str:
    """The passage in a frame of its own, with the way to the rest: a link, which htmx follows in place."""
    more = ""
    if not shown.is_whole:
        url = escape(more_url)
        label = "Show all" if shown.length <= WHOLE else "Show more"
        more = (
            f'<p class="cut"><a href="{url}" hx-get="{url}" hx-target="{swaps}" hx-swap="outerHTML">{label}</a> '
            f"<span>{size_words(shown.until)} of {size_words(shown.length)} shown</span></p>"
        )
    return f'<div class="output"><div hx-ignore>{shown.html}</div>{more}</div>'


def size_words(characters: int) -> str:
    """`812 characters`, `176 k characters`."""
    if characters < 1000:
        return f"{characters} characters"
    if characters < 1_000_000:
        return f"{characters / 1000:.0f} k characters"
    return f"{characters / 1_000_000:.1f} M characters"


def _folded(text: str, most: int) -> Passage | None:
    """The text as a tree, where it is an object or an array."""
    try:
        value = read_container(text)
    except NotJson:
        return None
    budget = Budget(most)
    html = tree(value, budget)
    return Passage(html, min(most, len(text) - 1) if budget.cut else len(text), len(text))


def _cut(text: str, start: int, most: int) -> int:
    """Where to stop: at the end, or after the last line that fits whole, if it is not far off."""
    if len(text) - start <= most:
        return len(text)
    end = text.rfind("\n", start + most - most // 10, start + most)
    return end + 1 if end > 0 else start + most
