from pathlib import Path

import pytest

from namzu_site import env
from namzu_site.env import BadSetting


def given(monkeypatch: pytest.MonkeyPatch, value: str) -> str:
    monkeypatch.setenv("NAMZU_TEST", value)
    return "NAMZU_TEST"


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("", []),
        ("console.example.org, .example.org,*", ["console.example.org", ".example.org", "*"]),
        ("192.0.2.7,[2001:db8::7],my_host,LOCALHOST", ["192.0.2.7", "[2001:db8::7]", "my_host", "LOCALHOST"]),
    ],
)
def test_hosts_are_read(value: str, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.hosts(given(monkeypatch, value)) == read


@pytest.mark.parametrize(
    "word",
    [
        *("http://x", "x:8000", "x/", "::1", "[::1", "[::1]:80", "[x]", "[fe80::1%eth0]"),
        *("x.", "*.x", "..x", "-x", "ü.example", "a b"),
    ],
)
def test_what_is_no_host_is_named_with_its_variable(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSetting) as caught:
        env.hosts(given(monkeypatch, f"localhost,{word}"))
    assert str(caught.value).startswith(f"NAMZU_TEST={word!r} is not usable: expected ")


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("https://console.example.org", ["https://console.example.org"]),
        ("HTTPS://Console.example.org:8443 , http://[::1]:80", ["https://console.example.org:8443", "http://[::1]:80"]),
        ("https://*.example.org", ["https://*.example.org"]),
    ],
)
def test_origins_are_read(value: str, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.origins(given(monkeypatch, value)) == read


@pytest.mark.parametrize(
    "word",
    [
        *(
            "console.example.org",
            "*",
            "ftp://x",
            "https://",
            "https://x/",
            "https://x:",
            "https://x:0",
            "https://x:65536",
        ),
        *("https://a b", "https://*", "https://*.", "https://.x", "https://user@x"),
    ],
)
def test_what_is_no_origin_is_named_with_its_variable(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSetting) as caught:
        env.origins(given(monkeypatch, word))
    assert str(caught.value).startswith(f"NAMZU_TEST={word!r} is not usable: expected ")


@pytest.mark.parametrize("value", ["~nobody-of-that-name/data", "x" * 300])
def test_what_can_be_no_folder_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSetting, match="NAMZU_TEST="):
        env.folder(given(monkeypatch, value), Path())


def test_a_secret_that_was_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("short")

    with pytest.raises(BadSetting, match="secret_key"):
        env.secret("NAMZU_TEST", tmp_path / "secret_key")
