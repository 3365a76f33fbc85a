"""The API's description, and whether an answer is one that it announces."""

import json
import re
from functools import cache
from typing import Any

import jsonschema_rs

from namzu_site.api import api

PREFIX = "/api/v1/"
EVERYWHERE = (405, 500)  # said once, in the description of the whole
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    loaded: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(path_prefix=PREFIX)))
    return loaded


def operations() -> list[dict[str, Any]]:
    """All operations."""
    return [operation for path in document()["paths"].values() for operation in path.values()]


@cache
def validator(schema: str) -> jsonschema_rs.Validator:
    """What checks values against the schema, given as JSON."""
    return jsonschema_rs.validator_for(
        {**json.loads(schema), "components": document()["components"]},
        validate_formats=True,
        formats={"date-time": lambda text: text.endswith("Z")},
    )


def check(value: Any, schema: dict[str, Any]) -> None:
    """Fails where the value does not fit the schema."""
    validator(json.dumps(schema)).validate(value)


def operation_at(method: str, path: str) -> dict[str, Any] | None:
    """The operation that answers there."""
    for template, found in document()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            operation: dict[str, Any] | None = found.get("get" if method == "HEAD" else method.lower())
            return operation
    return None


def check_answer(method: str, path: str, response: Any) -> None:
    """Fails where the operation does not announce such an answer: status, media type, headers, shape, code."""
    operation = operation_at(method, path)
    if operation is None or response.status_code in EVERYWHERE:
        return
    where = f"{method} {path} → {response.status_code}"
    answer = operation["responses"].get(str(response.status_code))
    assert answer is not None, f"{where} is not described"
    for name in {"ETag", "Retry-After", "WWW-Authenticate", "Idempotent-Replay"} & set(response.headers):
        assert name in answer.get("headers", {}), f"{where}: {name} is not described"
    if method == "HEAD" or "content" not in answer:
        assert not response.content, where
        return
    content = answer["content"].get(response["Content-Type"])
    assert content is not None, f"{where}: {response['Content-Type']} is not described"
    if "Content-Encoding" not in response.headers:
        check(_checkable(json.loads(response.content)), content["schema"])


def _checkable(value: Any) -> Any:
    """The value without what the checker cannot read: lone surrogates, and whole numbers beyond a double."""
    if isinstance(value, dict):
        return {_checkable(name): _checkable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_checkable(inner) for inner in value]
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("?", value)
    return 0 if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63 else value
