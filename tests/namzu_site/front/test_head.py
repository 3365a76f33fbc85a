"""HEAD on the port that everything is on."""

from collections.abc import Callable
from typing import Any

import httpx

from namzu_site.front.front import Front
from tests.api_client import Caller


def test_head_is_get_without_its_body(caller: Caller, through_front: Callable[..., Any]) -> None:
    session = caller.session()["id"]

    async def script(client: httpx.AsyncClient, front: Front) -> list[httpx.Response]:
        path = f"/sessions/{session}/messages"
        return [await client.request(method, path) for method in ("GET", "HEAD")]

    got, head = through_front(caller, script)
    assert (head.status_code, dict(head.headers)) == (200, dict(got.headers))
    assert (head.content, int(head.headers["Content-Length"])) == (b"", len(got.content))
