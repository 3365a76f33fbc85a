"""Transcripts of the demo fleet, read from a plain text form.

A line `== role` begins a message, `== role {"field": …}` adds fields to it, `== assistant null` has no content. A line
`-- call <id> <function> <arguments>` adds a tool call, `@log <lines>` stands for a long printed output.
"""

import json
import re
from pathlib import Path
from typing import Any

from namzu_site.demo.calls import call
from namzu_site.demo.long_transcript import long_transcript
from namzu_site.demo.shapes import LONG, Node, Work

FOLDER = Path(__file__).parent / "texts"
_HEAD = re.compile(r"^== (\w+) ?(.*)$", re.MULTILINE)
_LOG = re.compile(r"^@log (\d+)$", re.MULTILINE)
_TESTS = ("test_totals", "test_vouchers", "test_rounding", "test_currencies", "test_shipping", "test_refunds")


def messages_of(node: Node) -> list[dict[str, Any]]:
    """The messages of the session, oldest first; none where it has not begun."""
    if node.transcript == LONG:
        return long_transcript()
    if node.transcript:
        return read_transcript((FOLDER / f"{node.transcript}.txt").read_text(encoding="utf-8"))
    return _of_work(node.name, node.work) if node.work else []


def read_transcript(text: str) -> list[dict[str, Any]]:
    """The messages of a transcript file, oldest first."""
    parts = _HEAD.split(text)[1:]
    return [_message(*parts[place : place + 3]) for place in range(0, len(parts), 3)]


def _message(role: str, extra: str, body: str) -> dict[str, Any]:
    lines = body.strip("\n").split("\n")
    calls = [_call(line) for line in lines if line.startswith("-- call ")]
    content = "\n".join(line for line in lines if not line.startswith("-- call ")).strip("\n")
    content = _LOG.sub(lambda match: _long_log(int(match[1])), content)
    message: dict[str, Any] = {"role": role, "content": None if extra == "null" else content}
    if calls:
        message["toolCalls"] = calls
    return message | (json.loads(extra) if extra.startswith("{") else {})


def _call(line: str) -> dict[str, Any]:
    call_id, _, rest = line.removeprefix("-- call ").partition(" ")
    function, _, arguments = rest.partition(" ")
    return call(call_id, function, arguments)


def _of_work(name: str, work: Work) -> list[dict[str, Any]]:
    call_id = f"call_{name}"
    arguments = json.dumps({"command": work.command}, ensure_ascii=False)
    return [
        {"role": "user", "content": work.asked},
        {"role": "assistant", "content": None, "toolCalls": [call(call_id, "run_shell", arguments)]},
        {"role": "tool", "content": work.printed, "toolCallId": call_id},
        {"role": "assistant", "content": work.answer},
    ]


def _long_log(lines: int) -> str:
    """What a verbose test run prints: the same every time, a few failures among many passes."""
    printed = ["============================= test session starts ============================="]
    for number in range(lines):
        test = _TESTS[number % len(_TESTS)]
        outcome = "FAILED" if number % 97 == 41 else "PASSED"
        percent = (number + 1) * 100 // lines
        case = f"{test}[{number:04d}-EUR-{number * 37 % 10_000:04d}]"
        printed.append(f"tests/checkout/{test}.py::{case} {outcome} [{percent:3d}%]")
    failed = sum(line.count("FAILED") for line in printed)
    printed.append(f"=============== {failed} failed, {lines - failed} passed in {lines / 31:.2f}s ===============")
    return "\n".join(printed)
