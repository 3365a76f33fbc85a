"""docs/api.md, written from the API's description."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from namzu_site.api import api
from namzu_site.http_errors import STATUS

PATH = Path(settings.BASE_DIR) / "docs" / "api.md"
_HEAD = """# The API, call by call

Written by `manage.py write_api_docs` from the OpenAPI document; do not edit. How to go about it is told in
[runners.md](runners.md); all shapes, with the answer to every failure, stand at `/api/v1/docs` on your console.

Paths lie below `/api/v1/tenants/{tenant_id}`, which the examples call `$API`; those of tenants themselves lie below
`/api/v1`. A GET takes `If-None-Match`, a POST `Idempotency-Key`, everything else `If-Match`.
"""
_CODES = """## Codes

What is not among a call's own codes can happen to all calls of its kind: with a body, with a query, with a header.

| status | code | says |
|---|---|---|"""
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_LONG = 80  # characters of a body, from which on it is written over lines
Call = tuple[str, str, dict[str, Any]]  # path, method, operation


def written() -> str:
    """The text of docs/api.md."""
    document = api.get_openapi_schema(path_prefix="")
    groups: defaultdict[str, list[Call]] = defaultdict(list)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            groups[operation["tags"][0]].append((path, method.upper(), operation))
    described = {code for group in groups.values() for call in group for code in _codes(call[2])}
    sections = [line for name in sorted(groups) for line in _group(name, groups[name])]
    return "\n".join([_HEAD, *sections, _CODES, *_code_table(described)]) + "\n"


def _group(name: str, calls: list[Call]) -> Iterator[str]:
    calls = sorted(calls, key=lambda call: (call[0], _METHODS.index(call[1])))
    yield from (f"## {name}", "", "| call | scope | does | own codes |", "|---|---|---|---|")
    for path, method, operation in calls:
        codes = ", ".join(f"`{code}`" for code in operation["x-codes"])
        yield f"| `{method} {_short(path)}` | {operation['x-scope']} | {_says(operation)} | {codes} |"
    parameters = [row for call in calls for row in _parameters(call)]
    if parameters:
        yield from ("", "| parameter | of | is | says |", "|---|---|---|---|", *parameters)
    yield from ("", *_worked(next((call for call in calls if call[1] == "POST"), calls[0])), "")


def _says(operation: dict[str, Any]) -> str:
    text, _, _ = operation["description"].partition("\n\nScope: ")
    return " ".join(text.split())


def _short(path: str) -> str:
    return path.removeprefix("/tenants/{tenant_id}")


def _parameters(call: Call) -> Iterator[str]:
    path, _, operation = call
    for parameter in operation["parameters"]:
        if parameter["in"] == "query":
            kind, says = _kind(parameter["schema"]), parameter.get("description", "")
            yield f"| `{parameter['name']}` | `{_short(path)}` | {kind} | {says} |"


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if prefix := re.match(r"\^([a-z]+)_\[", schema.get("pattern", "")):
        return f"id `{prefix[1]}_…`"
    limits = [f"{schema[name]:,}" for name in ("minimum", "maximum") if name in schema]
    kind = {"integer": "number", "string": "text"}[schema["type"]]
    default = f"; {schema['default']} where absent" if "default" in schema else ""
    return f"{kind} {' to '.join(limits)}".rstrip() + default


def _codes(operation: dict[str, Any]) -> Iterator[str]:
    for answer in operation["responses"].values():
        yield from answer.get("content", {}).get("application/problem+json", {}).get("examples", {})


def _code_table(described: set[str]) -> Iterator[str]:
    for failure, status in sorted(STATUS.items(), key=lambda item: (item[1], item[0].code)):
        if failure.code in described:
            yield f"| {status} | `{failure.code}` | {(failure.__doc__ or '').strip().splitlines()[0]} |"


def _worked(call: Call) -> Iterator[str]:
    """The call with curl, and what it is answered."""
    path, _, operation = call
    status, answer = next(item for item in operation["responses"].items() if int(item[0]) < 300)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    base = "$API" if path.startswith("/tenants/") else "http://127.0.0.1:8000/api/v1"
    address = base + re.sub(r"\{(\w+)_id\}", lambda match: f"${match[1].upper()}", _short(path))
    yield from ("```sh", f'curl "{address}" -H "Authorization: Bearer $KEY"' + (" \\" if body else ""))
    if body:
        yield f"  -H 'Content-Type: application/json' -d '{_json(_first_example(body))}'"
    yield from ("```", "", f"{status} {answer['description']}:", "", "```json")
    yield from (_json(_first_example(answer["content"]["application/json"])), "```")


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else json.dumps(value, ensure_ascii=False, indent=2)


def _first_example(content: dict[str, Any]) -> Any:
    return content["example"] if "example" in content else next(iter(content["examples"].values()))["value"]
