"""What a message looks like, and that nothing in it can do, load or hide anything."""

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores_app.session.article import ALONE_SLOT, Source, article, result_slot, state_slot
from stores_app.session.output import SHORT

AT = datetime(2026, 4, 18, 11, 1, 8, 183000, tzinfo=UTC)
ROLES = ("system", "user", "assistant", "tool")
TAGS = re.compile(
    "a|abbr|article|blockquote|br|button|code|del|details|div|em|h[3-6]|header|hr|li|ol|p|pre|s|span|strong|summary"
    "|table|tbody|td|th|thead|time|tr|ul"
)
ATTRIBUTES = re.compile(
    "aria-label|class|data-call|data-copy-message|data-relative|datetime|hidden|href|hx-get|hx-ignore|hx-swap|hx-target"
    "|id|open|rel|start|tabindex|title|type"
)
UNSEEN = re.compile("[\\x00\\x1b\u202a-\u202e\ud800-\udfff]")


class Reader(HTMLParser):
    """Every element with its attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.elements if tag == "a" and "href" in attrs]


def show(content: Any, role: str = "assistant", **fields: Any) -> str:
    raw = json.dumps({"role": role, "content": content, **fields})
    return show_raw(raw.encode(), role)


def show_raw(raw: bytes, role: str = "assistant") -> str:
    return article(Source(public_id="msg_1", seq=7, role=role, at=AT, raw=raw))


def call(name: str = "read_file", arguments: str = "{}", id_: str = "call_1") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def check_harmless(html: str) -> Reader:
    read = Reader(html)
    for tag, attributes in read.elements:
        assert TAGS.fullmatch(tag), tag
        assert all(map(ATTRIBUTES.fullmatch, attributes)), attributes
    for link in read.links():
        assert link.startswith(("messages/msg_1/", "?at=", "https://", "http://", "mailto:")), link
    assert not UNSEEN.search(html)
    return read


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "svg": "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "image handler": "<img src=x onerror=alert(1)>",
    "javascript link": "[x](javascript:alert(1)) <javascript:alert(1)>",
    "entities in a link": "[x](&#106;avascript&colon;alert(1)) [y](java\tscript:alert(1))",
    "data link": "[x](data:text/html;base64,PHNjcmlwdD4=) ![y](data:image/svg+xml;base64,PHN2Zz4=)",
    "own address": "[x](/sign-out/) [y](//evil.example/) [z](?at=1)",
    "htmx": '<a hx-get="/x" hx-trigger="load">x</a> <div hx-on:click="alert(1)" data-hx-get="/x">',
    "srcdoc": '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "style": '<p style="position:fixed">x</p><style>*{display:none}</style>',
    "form": '<form action="https://evil.example"><input name=password autofocus onfocus=alert(1)></form>',
    "remote image": "![a cat](https://evil.example/cat.png)",
    "reference": "[x]\n\n[x]: javascript:alert(1)",
    "title": '[x](https://ok.example "\u202e onmouseover=alert(1)")',
    "fence": '```"><script>alert(1)</script>\ncode\n```',
    "fence class": "```ts onload=x\n<b>\n```",
    "autolink": "<https://ok.example/?q=<script>>",
    "slots": f"{ALONE_SLOT}{state_slot(0)}{result_slot(0)}",
    "comment": "<!-- --!><script>alert(1)</script>",
    "mutation": "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "controls": "a\0b\x1b[31mred\u202eevil\u2066x\u2069\u200b\u2028\x85\ufeff",
    "tags": "hi\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065",
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_a_message_is_more_than_text(name: str, role: str) -> None:
    read = check_harmless(show(HOSTILE[name], role))
    assert not [attrs for _, attrs in read.elements if "hx-get" in attrs]
    assert show(HOSTILE[name], role).count("<!--") == (1 if role == "tool" else 0)


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_a_call_is_more_than_text(name: str) -> None:
    evil = HOSTILE[name]
    made = [call(evil, json.dumps({evil: [evil, {evil: evil}]}), evil), call(evil, evil)]
    message = {"role": "assistant", "toolCalls": made, "cacheHint": evil, evil: {evil: evil}}
    read = check_harmless(show_raw(json.dumps(message).encode()))
    assert not [attrs for _, attrs in read.elements if "hx-get" in attrs]


@given(st.text(max_size=300), st.sampled_from(ROLES))
def test_no_text_breaks_out(text: str, role: str) -> None:
    check_harmless(show(text, role))


@given(st.binary(max_size=200))
def test_no_record_makes_it_fail(raw: bytes) -> None:
    check_harmless(show_raw(raw))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_no_type_makes_it_fail(value: Any) -> None:
    fields = dict.fromkeys(("content", "toolCalls", "toolCallId", "cacheHint", "timestamp", "more"), value)
    check_harmless(show_raw(json.dumps({"role": "tool", **fields}).encode(), "tool"))


def test_user_content_stands_inside_an_element_that_htmx_ignores() -> None:
    html = show("# Hello", toolCalls=[call(arguments='{"a": 1}')], more=1)
    assert html.count("<div hx-ignore>") == 3


def test_remote_images_become_links_with_their_text() -> None:
    html = show("![a cat](https://evil.example/cat.png) ![a dog](dog.png)")
    assert "<img" not in html
    assert 'href="https://evil.example/cat.png"' in html
    assert "a cat</a> a dog" in html


@pytest.mark.parametrize(
    ("char", "name"),
    [
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\u2028", "U+2028 LINE SEPARATOR"),
        ("\x85", "U+0085 NEXT LINE"),
        ("\x1b", "U+001B ESCAPE"),
        ("\ufeff", "U+FEFF BYTE ORDER MARK"),
    ],
)
@pytest.mark.parametrize("role", ROLES)
def test_hidden_characters_are_shown_by_name(char: str, name: str, role: str) -> None:
    assert f'<abbr class="hidden-char" title="{name}">' in show(f"before{char}after", role)


@pytest.mark.parametrize("role", ROLES)
def test_nul_and_lone_surrogates_are_shown_as_replacement_characters(role: str) -> None:
    html = show_raw(b'{"role":"x","content":"a\\u0000b\\ud800c"}', role)
    assert "a\ufffdb\ufffdc" in html


def test_emoji_flags_and_joiners_stay_whole() -> None:
    text = "👩‍👩‍👧‍👦 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f می‌خواهم"
    assert text in show(text)


def test_a_hidden_sentence_of_tag_characters_is_said_aloud() -> None:
    assert "hidden tag characters: ignore" in show(HOSTILE["tags"])


def test_markdown_is_rendered_and_code_is_coloured_by_classes() -> None:
    html = show("# Plan\n\n|a|b|\n|-|-:|\n|1|2|\n\n```python\ndef f(): pass\n```")
    assert '<h3 class="md-h1">Plan</h3>' in html
    assert '<td class="align-right">2</td>' in html
    assert '<span class="tok-k">def</span>' in html
    assert "style=" not in html


def test_headings_never_skip_a_level() -> None:
    html = show("#### four\n\n# one\n\n### three")
    assert [tag for tag, _ in Reader(html).elements if tag[0] == "h" and tag[1:].isdigit()] == ["h3", "h3", "h4"]


def test_what_people_type_keeps_its_lines() -> None:
    assert "<br>" in show("one\ntwo", "user")
    assert "<br>" not in show("one\ntwo", "assistant")


def test_json_of_a_tool_folds_and_keeps_numbers_and_duplicate_keys() -> None:
    html = show('{"a": 1e+21, "a": 1.50, "b": [1, {"c": null}]}', "tool")
    assert "1e+21" in html
    assert "1.50" in html
    assert html.count('<span class="json-key">a</span>') == 2
    assert "<details open><summary>" in html


@pytest.mark.parametrize("text", ["[" * 5000, "[" * 100 + "]" * 100, '{"a": NaN}', "{", "12", "1" * 5000])
def test_what_is_no_foldable_json_is_text(text: str) -> None:
    assert f'<pre class="text">{text[:60].replace(chr(34), "&quot;")}' in show(text, "tool")


def test_huge_json_is_cut_by_its_budget() -> None:
    html = show(json.dumps([{"key": "value" * 10}] * 10_000), "tool")
    assert len(html) < 8 * SHORT
    assert "more</li>" in html
    assert "Show all" in html or "Show more" in html


def test_long_outputs_are_shortened_and_say_so() -> None:
    html = show("line of output\n" * 5000, "tool")
    assert len(html) < SHORT + 3000
    assert 'hx-get="messages/msg_1/full/"' in html
    assert '<a href="messages/msg_1/full/"' in html
    assert "20 k characters of 75 k characters shown" in html


def test_arguments_that_are_no_json_are_marked_so() -> None:
    assert "not JSON" in show(None, toolCalls=[call(arguments="not json {{{")])
    assert "not JSON" not in show(None, toolCalls=[call(arguments='{"a": 1}')])


def test_each_call_has_its_slots() -> None:
    html = show(None, toolCalls=[call(), call(id_="call_2")])
    for index in (0, 1):
        assert html.count(state_slot(index)) == html.count(result_slot(index)) == 1


def test_unknown_fields_are_shown_as_they_came() -> None:
    html = show_raw(b'{"role":"user","content":"x","vendorExtra":{"k":[1e+21,-0.000001]}}')
    assert "More fields" in html
    assert "1e+21" in html
    assert "-0.000001" in html
    assert "More fields" not in show("x", timestamp=1, cacheHint="none")


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_message_that_says_nothing_says_so(content: str | None) -> None:
    assert "message-note" in show(content)


def test_the_article_is_the_same_for_everybody_at_any_time() -> None:
    html = show("x")
    assert html == show("x")
    assert '<time datetime="2026-04-18T11:01:08.183Z"' in html
    assert "/t/" not in html
