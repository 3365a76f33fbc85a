"""The small pieces of pages."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.template import Context, Template

from sessions_app.hierarchy.rules import EDGE_KINDS, SESSION_STATUSES, SUB_SESSION_STATUSES
from sessions_app.templatetags import console

NOW = datetime(2026, 4, 18, 11, tzinfo=UTC)


def rendered(source: str, **values: object) -> str:
    return Template("{% load console %}" + source).render(Context(values))


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(), "just now"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=25), "1 d ago"),
        (timedelta(days=45), "1 mo ago"),
        (timedelta(days=800), "2 y ago"),
        (timedelta(hours=-2), "in 2 h"),
    ],
)
def test_times_are_relative(ago: timedelta, words: str) -> None:
    assert console.relative_time(NOW - ago, NOW) == words


def test_a_time_carries_its_instant() -> None:
    assert 'datetime="2026-04-18T11:00:00.000Z" title="2026-04-18 11:00:00.000 UTC"' in console.when(NOW)
    assert console.when(None) == "–"


@pytest.mark.parametrize("status", sorted({*SESSION_STATUSES, *SUB_SESSION_STATUSES}))
def test_a_status_is_an_icon_and_a_word_and_a_colour(status: str) -> None:
    chip = console.status_chip(status)
    assert f"chip--{status}" in chip
    assert f"#status-{status}" in chip
    assert f"<span>{console.STATUS_WORDS[status]}</span>" in chip


def test_the_sprite_has_every_icon_that_is_named() -> None:
    sprite = (settings.BASE_DIR / "static/img/icons.svg").read_text()
    names = [f"status-{status}" for status in console.STATUS_WORDS] + [f"edge-{kind}" for kind in ("root", *EDGE_KINDS)]
    names += ["actor-user", "actor-agent", "actor-system", "actor-none", "copy", "brand"]
    assert [name for name in names if f'id="{name}"' not in sprite] == []


def test_an_actor_shows_its_chain() -> None:
    user = {"kind": "user", "userId": "usr_<b>", "tenantId": "tnt_x"}
    agent = {"kind": "agent", "agentId": "agt_a", "tenantId": "tnt_x", "parentActor": user}
    text = rendered("{% actor it %}", it=agent)
    assert 'title="agent agt_a ‹ user usr_&lt;b&gt;"' in text
    assert "#actor-agent" in text
    assert "No owner" in rendered("{% actor it %}", it=None)


def test_a_short_id_is_copied_whole() -> None:
    text = rendered("{% id_copy it short=True %}", it="ses_01m8mcm5fjea2tw0x58bdvkye2")
    assert ">ses_01m8…8bdvkye2</code>" in text
    assert 'data-copy="ses_01m8mcm5fjea2tw0x58bdvkye2"' in text
    assert ">ses_short</code>" in rendered("{% id_copy it short=True %}", it="ses_short")


def test_a_command_is_shown_as_it_stands() -> None:
    assert "<code>run &lt;it&gt; &amp;&amp; go</code>" in rendered('{% command_line "run <it> && go" %}')
    assert 'data-copy="run &lt;it&gt;"' in rendered('{% copy_button "run <it>" %}')


def test_numbers_are_grouped_and_bounded() -> None:
    assert rendered("{{ 12345|grouped }} {{ 1000|up_to:1000 }} {{ 1001|up_to:1000 }}") == "12,345 1,000 1,000+"
