import socket
from typing import Any

import pytest

from namzu_site.address import Address, AddressUnusable, free_address
from namzu_site.management.commands.up import _allowed_hosts, _as_host


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (Address("127.0.0.1", "127.0.0.1", 8000), "http://127.0.0.1:8000"),
        (Address("::1", "::1", 8000), "http://[::1]:8000"),
        (Address("0.0.0.0", "0.0.0.0", 80), "http://localhost:80"),
        (Address("console.example", "192.0.2.7", 80), "http://console.example:80"),
    ],
)
def test_the_announced_address_can_be_opened(address: Address, url: str) -> None:
    assert address.url == url


def test_localhost_is_a_number_to_listen_at() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    assert free_address("localhost", port) == Address("localhost", "127.0.0.1", port)


def test_a_taken_port_is_named_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(AddressUnusable, match="choose another port"):
        free_address("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.7"])
def test_a_host_that_is_not_this_machine_is_named(host: str) -> None:
    with pytest.raises(AddressUnusable, match=host.replace(".", r"\.")):
        free_address(host, 8000)


@pytest.mark.parametrize(
    ("address", "added"),
    [
        (Address("127.0.0.1", "127.0.0.1", 1), []),
        (Address("::1", "::1", 1), []),
        (Address("0.0.0.0", "0.0.0.0", 1), []),
        (Address("127.0.0.2", "127.0.0.2", 1), ["127.0.0.2"]),
        (Address("2001:db8::7", "2001:db8::7", 1), ["[2001:db8::7]"]),
    ],
)
def test_the_address_listened_at_is_an_allowed_host(address: Address, added: list[str], settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

    assert _allowed_hosts(address) == [*settings.ALLOWED_HOSTS, *added]


def test_hosts_that_were_set_stay_as_they_are(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMZU_ALLOWED_HOSTS", "console.example")
    settings.ALLOWED_HOSTS = ["console.example"]

    assert _allowed_hosts(Address("192.0.2.7", "192.0.2.7", 1)) == ["console.example"]


@pytest.mark.parametrize(
    ("hosts", "asked"),
    [(["*"], "localhost"), ([".console.example"], "console.example"), (["*", "a.example"], "a.example")],
)
def test_readiness_is_asked_for_under_an_allowed_host(hosts: list[str], asked: str) -> None:
    assert _as_host(hosts) == asked
