import re
import socket

import pytest

from namzu_site.address import Address, AddressUnusable, announcement, free_address


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


@pytest.mark.parametrize("host", ["..", "x" * 70])
def test_a_host_that_is_no_name_is_named(host: str) -> None:
    with pytest.raises(AddressUnusable, match=f"HOST={re.escape(host)} names no address"):
        free_address(host, 8000)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        (Address("127.0.0.1", "127.0.0.1", 1), "127.0.0.1"),
        (Address("0.0.0.0", "0.0.0.0", 1), None),
        (Address("2001:db8::7", "2001:db8::7", 1), "[2001:db8::7]"),
        (Address("fe80::1%eth0", "fe80::1%eth0", 1), None),
        (Address("console.example", "192.0.2.7", 1), "console.example"),
    ],
)
def test_the_address_listened_at_has_a_name_as_a_host(address: Address, host: str | None) -> None:
    assert address.as_host == host


HERE, EVERYWHERE = Address("127.0.0.1", "127.0.0.1", 8000), Address("0.0.0.0", "0.0.0.0", 8000)


@pytest.mark.parametrize(
    ("address", "named", "https", "said"),
    [
        (HERE, [], False, "runs at http://127.0.0.1:8000 (Ctrl-C stops it)"),
        (HERE, ["a.example"], False, "runs at http://127.0.0.1:8000 (Ctrl-C stops it)"),
        (EVERYWHERE, [], False, "localhost alone: NAMZU_ALLOWED_HOSTS names its other hosts."),
        (EVERYWHERE, [".b.example", "a.example"], False, "(Ctrl-C stops it)\n  and at http://a.example:8000"),
        (EVERYWHERE, ["*"], False, "runs at http://localhost:8000 (Ctrl-C stops it)"),
        (HERE, ["*", "a.example"], True, "Open the proxy's address: https://a.example"),
        (HERE, [], True, "NAMZU_ALLOWED_HOSTS has to name the host of the proxy's address."),
    ],
)
def test_the_announcement_says_what_can_be_opened(address: Address, named: list[str], https: bool, said: str) -> None:
    text = announcement(address, named, https=https)

    assert text.endswith(said)
    assert ("listens at" in text) == https  # it is not to be opened there
