"""Strict reading of JSON that keeps the original bytes (reliability.md, bad input 1 to 3 and traps)."""

import json
import re
from typing import Any, NoReturn, TypeVar

import msgspec

from sessions_app.wire.errors import MalformedBody

MAX_DEPTH = 64
MAX_DIGITS = 4300
# What msgspec refuses, loses or accepts differently from us; rare enough to be read by the standard library instead.
_UNUSUAL = re.compile(rb"\\u[dD][89a-fA-F]|[eE]\+?\d{3}|\d{300}")
_LONG_NUMBER = re.compile(rb"\d{%d}" % (MAX_DIGITS + 1))
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")

Shape = TypeVar("Shape")


def read_json(data: bytes) -> Any:
    """The value; raises MalformedBody for what is not JSON, too deep, or beyond what numbers can hold."""
    return _decode(data, Any)


def read_as(data: bytes, shape: type[Shape]) -> Shape:
    """The value as a msgspec type; raises MalformedBody, or msgspec.ValidationError where only the shape is wrong."""
    value: Shape = _decode(data, shape)
    return value


def check_depth(data: bytes) -> None:
    """Raises MalformedBody where arrays and objects nest deeper than 64; reads no further than that."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(_STRING.sub(b"", data)):
        if bracket[0] in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedBody(f"The JSON nests deeper than {MAX_DEPTH} levels.")
        else:
            depth -= 1


def _decode(data: bytes, shape: Any) -> Any:
    check_depth(data)
    if _UNUSUAL.search(data):
        return msgspec.convert(_read_strictly(data), shape)
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedBody(f"The body is not JSON: {error}") from None


def _read_strictly(data: bytes) -> Any:
    if _LONG_NUMBER.search(_STRING.sub(b"", data)):
        raise MalformedBody(f"A number has more than {MAX_DIGITS} digits.")
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise MalformedBody(f"The body is not UTF-8: {error.reason} at byte {error.start}.") from None
    except json.JSONDecodeError as error:
        raise MalformedBody(f"The body is not JSON: {error}") from None


def _refuse_constant(word: str) -> NoReturn:
    raise MalformedBody(f"{word} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise MalformedBody(f"The number {text[:40]} is beyond what a double can hold.")
    return number
