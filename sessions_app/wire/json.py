"""Strict reading of JSON that keeps the original bytes (reliability.md, bad input 1 to 3 and traps)."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec

from sessions_app.wire.errors import MalformedBody

MAX_DEPTH = 64
MAX_DIGITS = 4300
_LONE_SURROGATE = re.compile(rb"\\u[dD](?:[89aAbB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F])")
_PAIR = re.compile(rb"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
# Digits become 0, E becomes e, what may stand in a number stays: what is looked for is then a fixed text.
_NUMBERS = bytes(
    0x30 if 0x30 <= byte <= 0x39 else 0x65 if byte in b"eE" else byte if byte in b"+" else 0x20 for byte in range(256)
)
_STRING = re.compile(rb'"[^"]*"?')  # where there are no escapes
_SCANNER = json.JSONDecoder()
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))


def is_plain(data: bytes) -> bool:
    """Whether msgspec reads the text as we want it read; the rest, which is rare, is left to the standard library.

    It refuses lone surrogates, and does not look at numbers that it need not keep. Raises MalformedBody for what is
    not UTF-8: it looks only into strings that it keeps.
    """
    if not data.isascii():
        _check_utf8(data)
    if (b"\\ud" in data or b"\\uD" in data) and _LONE_SURROGATE.search(_PAIR.sub(b"", data)):
        return False
    numbers = data.translate(_NUMBERS)
    return b"e000" not in numbers and b"e+000" not in numbers and b"0" * 200 not in numbers


def read_json(data: bytes) -> Any:
    """The value; raises MalformedBody for what is not JSON, too deep, or beyond what numbers can hold."""
    return read_as(data, Any)


def read_as(data: bytes, shape: Any, *, plain: bool | None = None) -> Any:
    """The value as a msgspec type; raises MalformedBody, or msgspec.ValidationError where only the shape is wrong.

    `plain` is what `is_plain` said of the text, or of one that this is a part of.
    """
    check_depth(data)
    if not (is_plain(data) if plain is None else plain):
        return msgspec.convert(_read_strictly(data), shape)
    return _decode(data, shape)


def slice_object(data: bytes, *, plain: bool | None = None) -> dict[str, bytes]:
    """The members of a JSON object as the bytes they came in; of a name that occurs twice the last one.

    Raises MalformedBody, also where the value is not an object. How deep the members nest is checked when they are
    read.
    """
    if not (is_plain(data) if plain is None else plain):
        return {name: text.encode() for name, text in _members(_text(data))}
    try:
        members: dict[str, msgspec.Raw] = _decode(data, dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise MalformedBody("Expected a JSON object.") from None
    return {name: bytes(raw) for name, raw in members.items()}


def slice_array(data: bytes, *, plain: bool | None = None) -> list[bytes]:
    """The items of a JSON array as the bytes they came in; raises MalformedBody, also where it is not an array.

    How deep the items nest is checked when they are read.
    """
    if not (is_plain(data) if plain is None else plain):
        return [text.encode() for text in _items(_text(data))]
    try:
        items: list[msgspec.Raw] = _decode(data, list[msgspec.Raw])
    except msgspec.ValidationError:
        raise MalformedBody("Expected a JSON array.") from None
    return [bytes(raw) for raw in items]


def _decode(data: bytes, shape: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise MalformedBody(f"Not JSON: {error}") from None
    except RecursionError:
        raise MalformedBody(f"The JSON nests deeper than {MAX_DEPTH} levels.") from None


def _text(data: bytes) -> str:
    """The text of JSON that is known to be well-formed from here on, so that slicing needs no checks of its own."""
    check_depth(data, MAX_DEPTH + 2)  # the items of an array in an object may nest as deep as they may alone
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


def check_depth(data: bytes, most: int = MAX_DEPTH) -> None:
    """Raises MalformedBody where arrays and objects nest deeper than `most`.

    Works on whole texts, never character by character: what comes may be large, and made to be slow. What is not
    balanced is left to the parser.
    """
    if data.count(b"[") + data.count(b"{") <= most:
        return
    # Without escapes every quote opens or closes a string; two in a row are nothing, whichever they are.
    quotes = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(_BRACKETS, _NO_STRUCTURE).replace(b'""', b"")
    nested = _STRING.sub(b"", quotes)
    for _ in range(most):
        nested = nested.replace(b"[]", b"")  # the innermost level of everything goes
    if b"[]" in nested or nested.count(b"[") > most:
        raise MalformedBody(f"The JSON nests deeper than {MAX_DEPTH} levels.")


def _check_utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedBody(f"Not UTF-8: {error.reason} at byte {error.start}.") from None


def _read_strictly(data: bytes) -> Any:
    text = _check_utf8(data)
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise MalformedBody(f"Not JSON: {error}") from None
    except ValueError:  # the only other one: Python does not turn so many digits into a number
        raise MalformedBody(f"A number has more than {MAX_DIGITS} digits.") from None
    except RecursionError:
        raise MalformedBody(f"The JSON nests deeper than {MAX_DEPTH} levels.") from None


def _refuse_constant(word: str) -> NoReturn:
    raise MalformedBody(f"{word} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise MalformedBody(f"The number {text[:40]} is beyond what a double can hold.")
    return number
