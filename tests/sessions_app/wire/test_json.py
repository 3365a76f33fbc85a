"""Strict JSON that gives the original bytes back."""

import contextlib
import json
import signal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.wire.errors import MalformedBody
from sessions_app.wire.json import MAX_DEPTH, check_depth, read_json, slice_array, slice_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
SPACE = st.sampled_from(["", " ", "\n", "\t \r\n"])


@given(st.dictionaries(st.text(), VALUES, max_size=5), SPACE, st.booleans())
def test_an_object_is_cut_into_the_bytes_of_its_members(value: dict[str, Any], space: str, ascii_only: bool) -> None:
    texts = {name: json.dumps(part, ensure_ascii=ascii_only) for name, part in value.items()}
    body = f"{space}{{{space}" + f"{space},{space}".join(
        f"{json.dumps(name)}{space}:{space}{text}" for name, text in texts.items()
    )  # fmt: skip
    whole = (body + f"{space}}}{space}").encode(errors="surrogatepass")
    try:
        whole.decode()
    except UnicodeDecodeError:
        with pytest.raises(MalformedBody):
            slice_object(whole)
        return
    expected = {name: text.encode() for name, text in texts.items()}
    assert slice_object(whole) == expected
    unusual = whole.rstrip()[:-1] + (b"," if value else b"") + rb'"\ud800":"\udc00"}'
    assert slice_object(unusual) == expected | {"\ud800": rb'"\udc00"'}


@given(st.lists(VALUES, max_size=5), SPACE)
def test_an_array_is_cut_into_the_bytes_of_its_items(value: list[Any], space: str) -> None:
    texts = [json.dumps(part) for part in value]
    whole = f"[{space}" + f"{space},{space}".join(texts) + f"{space}]"
    assert slice_array(whole.encode()) == [text.encode() for text in texts]
    unusual = whole[:-1] + ("," if texts else "") + r'"\ud800"]'
    assert slice_array(unusual.encode()) == [*(text.encode() for text in texts), rb'"\ud800"']


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:0123456789eE+-.\\u d8ntrfalsy', max_size=60).map(str.encode))
def test_whatever_comes_is_read_or_refused_and_never_breaks(data: bytes) -> None:
    for read in (read_json, slice_object, slice_array):
        with contextlib.suppress(MalformedBody):
            read(data)


@given(VALUES)
def test_what_is_read_is_what_was_meant(value: Any) -> None:
    assert read_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"NaN", b"-Infinity", b"[1e400]", b"[-1e400]", b"1" * 4301, b"9" * 250 + b"e99", b"\xff", b'"\xc3"',
     b"[" * 65 + b"]" * 65, b"[" * 1_000_000, b'{"a":1}{', b"\xef\xbb\xbf{}", b'{"a":"\x01"}', b"[1,]", b"01",
     rb'["\ud800", NaN]', b'["\\ud800", ' + b"1" * 4301 + b"]"],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedBody):
        read_json(data)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (rb'"\ud800"', "\ud800"),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\u0000"', "\0"),
        (b"1" * 4300, int("1" * 4300)),
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
        (b'"' + b"[" * 1000 + b'"', "[" * 1000),
        (b"1e308", 1e308),
    ],
)
def test_what_can_be_kept_is_read(data: bytes, value: Any) -> None:
    assert value is None or read_json(data) == value
    read_json(data)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"[", b"]"),
        (b'{"a":', b"}"),
        (b'["]",', b"]"),
        (b'["\\"[", ', b"]"),
        (b'["\\\\", ', b"]"),
     (b'[[], "x", ', b", {}]"),
    ],
)  # fmt: skip
def test_how_deep_it_nests_is_counted_outside_of_strings(depth: int, before: bytes, after: bytes) -> None:
    inner = b"0" if before != b"[" else b""
    levels = depth - 1 if b"[]" in before else depth
    data = before * levels + (b"[]" if b"[]" in before else inner) + after * levels
    if depth > MAX_DEPTH:
        with pytest.raises(MalformedBody, match="deeper"):
            check_depth(data)
    else:
        check_depth(data)
        read_json(data)


@pytest.mark.parametrize(
    "made_to_be_slow",
    [b"[" * 65 + b'"' + b'\\"' * 200_000, b"[" * 65 + b'"' + b'\\"' * 200_000 + b"\\", b'["' * 200_000,
     b"[" * 65 + b'"' * 400_001, b"[[" + b'"",' * 400_000 + b"[]]]" * 70, b"{" * 400_000, b'{"a":' * 100_000],
)  # fmt: skip
def test_a_text_that_is_made_to_be_slow_is_refused_in_no_time(made_to_be_slow: bytes) -> None:
    signal.setitimer(signal.ITIMER_REAL, 10)  # quadratic time would take minutes; the alarm ends the run then
    try:
        for read in (read_json, slice_object, slice_array):
            with pytest.raises(MalformedBody):
                read(made_to_be_slow)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
