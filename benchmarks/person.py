"""A person with a browser: signs in, and has a cookie afterwards."""

import re
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from benchmarks.server import manage

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def sign_in(url: str, port: int) -> str:
    """The Cookie header of a platform administrator who has signed in; raises RuntimeError where that fails."""
    password = manage(url, "create_user", "benchmark", "--platform-admin")
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Host": "localhost"}
    connection.request("GET", "/sign-in/", headers=headers)
    answer = connection.getresponse()
    cookies, token = SimpleCookie(), _TOKEN.search(answer.read().decode())
    _take(cookies, answer.headers.get_all("Set-Cookie"))
    if token is None:
        raise RuntimeError("The sign-in page has no form.")
    form = urlencode({"csrfmiddlewaretoken": token[1], "username": "benchmark", "password": password})
    headers |= {"Cookie": _header(cookies), "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/sign-in/", form, headers)
    answer = connection.getresponse()
    if answer.status != 302:
        raise RuntimeError(f"Signing in was answered with {answer.status}.")
    _take(cookies, answer.headers.get_all("Set-Cookie"))
    connection.close()
    return _header(cookies)


def _take(cookies: "SimpleCookie", lines: list[str] | None) -> None:
    for line in lines or []:
        cookies.load(line)


def _header(cookies: "SimpleCookie") -> str:
    return "; ".join(f"{name}={cookie.value}" for name, cookie in cookies.items())
