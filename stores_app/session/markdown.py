"""Markdown of unknown origin as safe HTML: sanitised, highlighted, nothing loaded from elsewhere."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from sessions_app.wire.visible import mark_hidden
from stores_app.session.rules import storable

MOST_HIGHLIGHTED = 30_000  # characters; lexers are regular expressions, and some take long
_TOKEN_PREFIX = "tok-"  # noqa: S105 - of CSS classes
_FORMATTER = HtmlFormatter(nowrap=True, classprefix=_TOKEN_PREFIX)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}", re.ASCII)
_ABROAD = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_FIRST_HEADING = 3  # below the page's and the transcript's own

_CLASSES = {
    "span": {f"{_TOKEN_PREFIX}{name}" for name in STANDARD_TYPES.values() if name} | {"code-language"},
    "pre": {"code"},
    "div": {"table-scroll"},
    "th": {"align-left", "align-right", "align-center"},
    "td": {"align-left", "align-right", "align-center"},
    "a": {"image-link"},
    **{f"h{level}": {f"md-h{size}" for size in range(1, 7)} for level in range(1, 7)},
}
_CLEANER = nh3.Cleaner(
    tags={"a", "blockquote", "br", "code", "del", "div", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong"}
    | {"table", "tbody", "td", "th", "thead", "tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"},
    clean_content_tags={"script", "style"},
    attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
    tag_attribute_values={"pre": {"tabindex": {"0"}}, "div": {"tabindex": {"0"}}},
    allowed_classes=_CLASSES,
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
)


def markdown_html(text: str, *, breaks: bool = False) -> str:
    """The text as HTML; with `breaks` each line end is one, as in what people type."""
    renderer = _parser(breaks)
    return mark_hidden(_CLEANER.clean(renderer.render(storable(text))))


@cache
def _parser(breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks, "maxNesting": 40})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.push("heading_levels", _even_heading_levels)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _even_heading_levels(state: Any) -> None:
    """Headings go down one level at a time: the page's outline has no gaps, and the look keeps the author's size."""
    before = _FIRST_HEADING - 1
    for token in state.tokens:
        if token.type == "heading_open":
            token.attrSet("class", f"md-{token.tag}")
            before = min(int(token.tag[1]) + _FIRST_HEADING - 1, before + 1, 6)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{before}"


def _fence(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    language = (token.info.split() or [""])[0]
    named = language if _LANGUAGE.fullmatch(language) else ""
    label = f'<span class="code-language">{escape(named)}</span>' if named else ""
    return f'<pre class="code" tabindex="0">{label}<code>{highlighted(token.content, named)}</code></pre>\n'


def highlighted(code: str, language: str) -> str:
    """The code as HTML, in colours where the language is known and the code is not overly long."""
    lexer = _lexer(language) if language and len(code) <= MOST_HIGHLIGHTED else None
    return str(highlight(code, lexer, _FORMATTER)) if lexer else escape(code)


def _lexer(language: str) -> Lexer | None:
    """A lexer of its own for each text: some keep state while they read."""
    try:
        return get_lexer_by_name(language.lower(), stripnl=False)
    except ClassNotFound:
        return None


def _image(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """A link with the alternative text: nothing is loaded, and a person decides whether to go there."""
    token = tokens[index]
    source = str(token.attrGet("src") or "")
    text = escape(renderer.renderInlineAsText(token.children, options, env) or "image")
    if not _ABROAD.match(source):
        return text
    return f'<a class="image-link" href="{escape(source)}">{text}</a>'


def _table_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return '<div class="table-scroll" tabindex="0"><table>\n'


def _table_close(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return "</table></div>\n"


def _cell_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """Alignment as a class: style attributes are not allowed by the page's policy."""
    token = tokens[index]
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="align-{side}">' if side else f"<{token.tag}>"


_RULES = {
    "fence": _fence,
    "code_block": _fence,
    "image": _image,
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _cell_open,
    "td_open": _cell_open,
}
