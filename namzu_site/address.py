"""Where the web server listens."""

import asyncio
import errno
import http.client
import socket
from dataclasses import dataclass
from ipaddress import ip_address

from namzu_site.env import is_host

_READY_SECONDS = 60


class AddressUnusable(Exception):
    """Nothing can listen at that address."""


class NotAnswering(Exception):
    """The web server runs, but does not say that it is up."""


@dataclass(frozen=True)
class Address:
    """A host, as it was given and as the number it stands for, and a port."""

    host: str
    number: str
    port: int

    @property
    def is_everywhere(self) -> bool:
        return ip_address(self.number).is_unspecified

    @property
    def url(self) -> str:
        host = "localhost" if self.is_everywhere else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def as_host(self) -> str | None:
        """How requests name it as their host; None where it stands for many, or cannot be named like that."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if not self.is_everywhere and is_host(host) else None

    async def until_it_answers(self) -> None:
        """`/healthz` has answered 200; raises NotAnswering after a minute."""
        said = "nothing"
        try:
            async with asyncio.timeout(_READY_SECONDS):
                while (said := await asyncio.to_thread(self._ask)) != "200":
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise NotAnswering(f"{self.url}/healthz does not answer 200 but {said}.") from None

    def _ask(self) -> str:
        number = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.number, self.number)  # noqa: S104
        connection = http.client.HTTPConnection(number, self.port, timeout=5)
        try:
            # Behind NAMZU_HTTPS a plain request is sent on to https, which only the proxy in front speaks.
            connection.request("GET", "/healthz", headers={"Host": "localhost", "X-Forwarded-Proto": "https"})
            return str(connection.getresponse().status)
        except OSError as error:
            return str(error.strerror or error)
        finally:
            connection.close()


def announcement(address: Address, named: list[str], *, https: bool) -> str:
    """Where the console can be opened, in words. `named` are its hosts besides the machine's own names."""
    hosts = [host for host in named if host != "*" and not host.startswith(".")]
    if https:
        listening = f"Namzu Console listens at {address.url} for the TLS proxy in front of it (Ctrl-C stops it)."
        if not named:
            return f"{listening}\nNAMZU_ALLOWED_HOSTS has to name the host of the proxy's address."
        return f"{listening}\nOpen the proxy's address: https://{hosts[0] if hosts else '…'}"
    lines = [f"Namzu Console runs at {address.url} (Ctrl-C stops it)"]
    if address.is_everywhere:
        if not named:
            lines.append("It answers to localhost alone: NAMZU_ALLOWED_HOSTS names its other hosts.")
        lines += [f"  and at http://{host}:{address.port}" for host in hosts]
    return "\n".join(lines)


def free_address(host: str, port: int) -> Address:
    """The address, on which nobody listens yet; raises AddressUnusable."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise AddressUnusable(f"HOST={host} names no address: {error.strerror}.") from error
    except UnicodeError:
        raise AddressUnusable(f"HOST={host} names no address: it is no host name.") from None
    # `localhost` is both; hosts without IPv6 often name ::1 first all the same.
    family, kind, protocol, _, target = min(found, key=lambda each: each[0] != socket.AF_INET)
    try:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port just left is free again
            probe.bind(target)
    except OSError as error:
        raise AddressUnusable(_reason(host, port, error)) from error
    return Address(host, str(target[0]), port)


def _reason(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken by another program. Stop it, or choose another port: `make run PORT=8001`."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} on {host} is reserved for the administrator. Choose one above 1023: `make run PORT=8001`."
    return f"Nothing can listen at {host}, port {port}: {error.strerror}."
