"""Strict reading of JSON that keeps the original bytes (reliability.md, bad input 1 to 3 and traps)."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar

import msgspec

from sessions_app.wire.errors import MalformedBody

MAX_DEPTH = 64
MAX_DIGITS = 4300
# What msgspec refuses, loses or accepts differently from us; rare enough to be read by the standard library instead.
_UNUSUAL = re.compile(rb"\\u[dD][89a-fA-F]|[eE]\+?\d{3}|\d{200}")
_LONG_NUMBER = re.compile(rb"\d{%d}" % (MAX_DIGITS + 1))
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCANNER = json.JSONDecoder()
_BRACKETS = re.compile(rb"[\[\]{}]")

Shape = TypeVar("Shape")


def read_json(data: bytes) -> Any:
    """The value; raises MalformedBody for what is not JSON, too deep, or beyond what numbers can hold."""
    return _decode(data, Any)


def read_as(data: bytes, shape: type[Shape]) -> Shape:
    """The value as a msgspec type; raises MalformedBody, or msgspec.ValidationError where only the shape is wrong."""
    value: Shape = _decode(data, shape)
    return value


def slice_object(data: bytes) -> dict[str, bytes]:
    """The members of a JSON object as the bytes they came in; of a name that occurs twice the last one.

    Raises MalformedBody, also where the value is not an object.
    """
    if _UNUSUAL.search(data):
        return {name: text.encode() for name, text in _members(_text(data))}
    return {name: bytes(raw) for name, raw in _decode_object(data).items()}


def slice_array(data: bytes) -> list[bytes]:
    """The items of a JSON array as the bytes they came in; raises MalformedBody, also where it is not an array."""
    try:
        if _UNUSUAL.search(data):
            return [text.encode() for text in _items(_text(data))]
        return [bytes(raw) for raw in _decode(data, list[msgspec.Raw])]
    except msgspec.ValidationError:
        raise MalformedBody("Expected a JSON array.") from None


def _decode_object(data: bytes) -> dict[str, msgspec.Raw]:
    try:
        value: dict[str, msgspec.Raw] = _decode(data, dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise MalformedBody("Expected a JSON object.") from None
    return value


def _text(data: bytes) -> str:
    """The text of JSON that is known to be well-formed from here on, so that slicing needs no checks of its own."""
    check_depth(data)
    _read_strictly(data)
    return data.decode("utf-8")


def _members(text: str) -> Iterator[tuple[str, str]]:
    position = _skip_space(text, 0)
    if text[position] != "{":
        raise MalformedBody("Expected a JSON object.")
    position = _skip_space(text, position + 1)
    while text[position] != "}":
        name, position = _SCANNER.raw_decode(text, position)
        start = _skip_space(text, _skip_space(text, position) + 1)
        _, end = _SCANNER.raw_decode(text, start)
        yield name, text[start:end]
        position = _skip_space(text, end)
        if text[position] == ",":
            position = _skip_space(text, position + 1)


def _items(text: str) -> Iterator[str]:
    position = _skip_space(text, 0)
    if text[position] != "[":
        raise MalformedBody("Expected a JSON array.")
    position = _skip_space(text, position + 1)
    while text[position] != "]":
        _, end = _SCANNER.raw_decode(text, position)
        yield text[position:end]
        position = _skip_space(text, end)
        if text[position] == ",":
            position = _skip_space(text, position + 1)


def _skip_space(text: str, position: int) -> int:
    while text[position] in " \t\n\r":
        position += 1
    return position


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
    if not data.isascii():
        _check_utf8(data)  # msgspec looks only into strings that it keeps
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise MalformedBody(f"Not JSON: {error}") from None


def _check_utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedBody(f"Not UTF-8: {error.reason} at byte {error.start}.") from None


def _read_strictly(data: bytes) -> Any:
    if _LONG_NUMBER.search(_STRING.sub(b"", data)):
        raise MalformedBody(f"A number has more than {MAX_DIGITS} digits.")
    text = _check_utf8(data)
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise MalformedBody(f"Not JSON: {error}") from None


def _refuse_constant(word: str) -> NoReturn:
    raise MalformedBody(f"{word} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise MalformedBody(f"The number {text[:40]} is beyond what a double can hold.")
    return number
