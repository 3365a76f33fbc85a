"""Entity tags, 304 and compression of answers."""

import gzip
import json
from collections.abc import Callable

import pytest
import zstandard

from tests.api_client import Answer, Caller, assert_problem, new_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    return Caller(new_tenant())


def test_a_read_has_a_tag_that_an_append_leaves_alone(caller: Caller) -> None:
    session = f"/sessions/{caller.session()['id']}"
    before = caller.get(session)["ETag"]
    caller.created(f"{session}/messages", {"message": {"role": "user", "content": "x"}})
    assert caller.get(session)["ETag"] == before
    messages = caller.get(f"{session}/messages")
    caller.created(f"{session}/messages", {"message": {"role": "user", "content": "x"}})
    assert caller.get(f"{session}/messages")["ETag"] != messages["ETag"]


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
def test_a_read_of_what_the_caller_has_is_304(caller: Caller, form: str) -> None:
    path = f"{caller.base}/sessions/{caller.session()['id']}"
    tag = caller.client.get(path)["ETag"]
    answer = caller.client.get(path, headers={"If-None-Match": form.format(tag)})
    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", tag)
    assert caller.client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("stale", ['"zz*', "zz", '"zz", *', '"*"', ""])
def test_what_names_no_tag_is_not_taken_for_all(caller: Caller, stale: str) -> None:
    session = caller.session()
    path = f"{caller.base}/sessions/{session['id']}"
    answer = caller.client.put(path, json.dumps(session), "application/json", headers={"If-Match": stale})
    assert_problem(answer, 412, "precondition_failed")


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip", "gzip"), ("zstd, gzip", "zstd"), ("br;q=1, gzip;q=0.5", "gzip"), ("zstd;q=0, gzip", "gzip"),
     ("gzip;q=0", None), ("identity", None), ("", None)],
)  # fmt: skip
def test_a_long_answer_is_compressed_for_who_takes_it(caller: Caller, accepted: str, encoding: str | None) -> None:
    caller.project(name="x" * 200)
    for _ in range(10):
        caller.project()
    plain = caller.get("/projects")
    answer = caller.client.get(f"{caller.base}/projects", headers={"Accept-Encoding": accepted})
    assert answer.headers.get("Content-Encoding") == encoding
    unpack: dict[str | None, Callable[[bytes], bytes]] = {
        "gzip": gzip.decompress, "zstd": zstandard.decompress, None: bytes,
    }  # fmt: skip
    assert json.loads(unpack[encoding](answer.content)) == plain.json()
    assert answer["Vary"] == "Accept-Encoding"
    assert int(answer["Content-Length"]) == len(answer.content)
    again = caller.client.get(f"{caller.base}/projects", headers={"If-None-Match": answer["ETag"]})
    assert again.status_code == 304


def test_a_short_answer_is_not_compressed(caller: Caller) -> None:
    answer = caller.client.get(f"{caller.base}/projects", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer


def test_a_change_of_what_the_caller_has_not_seen_is_refused(caller: Caller) -> None:
    project = caller.project()
    path = f"{caller.base}/projects/{project['id']}"
    tag = caller.client.get(path)["ETag"]

    def rename(name: str, tag: str) -> Answer:
        return caller.client.patch(path, json.dumps({"name": name}), "application/json", headers={"If-Match": tag})

    assert rename("first", tag).status_code == 200
    details = assert_problem(rename("second", tag), 412, "precondition_failed")
    assert details["actual"] == caller.client.get(path)["ETag"]
    assert rename("third", details["actual"]).status_code == 200


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_what_answers_get_answers_head_with_the_same_headers(caller: Caller, encoding: str) -> None:
    for _ in range(10):
        session = caller.session()["id"]
    for path in (
        "/projects",
        f"/sessions/{session}",
        f"/sessions/{session}/messages",
        "/sessions/ses_none",
        "/nowhere",
    ):
        got, head = (
            getattr(caller.client, method)(caller.base + path, headers={"Accept-Encoding": encoding})
            for method in ("get", "head")
        )
        assert (head.status_code, dict(head.headers)) == (got.status_code, dict(got.headers))
        assert head.content == b""
        assert int(head["Content-Length"]) == len(got.content)
    tag = caller.client.head(f"{caller.base}/projects")["ETag"]
    assert caller.client.head(f"{caller.base}/projects", headers={"If-None-Match": tag}).status_code == 304


def test_a_refused_method_is_told_the_others(caller: Caller) -> None:
    readable = "GET, HEAD, POST"
    for path, method, allowed in (
        ("/projects", "delete", readable),
        ("/projects", "options", readable),
        ("/sub-sessions", "head", "POST"),
    ):
        answer = getattr(caller.client, method)(caller.base + path)
        assert (answer.status_code, answer["Allow"]) == (405, allowed)
