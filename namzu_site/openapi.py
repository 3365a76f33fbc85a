"""The API's description (OpenAPI 3.1): what ninja makes of routes and schemas, and what all routes of a kind share."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any, cast

from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation
from ninja.schema import NinjaGenerateJsonSchema
from pydantic.json_schema import JsonSchemaMode, JsonSchemaValue

from namzu_site.http_errors import STATUS
from namzu_site.problem_examples import example_of
from sessions_app.access.errors import InsufficientScope, NotAuthenticated
from sessions_app.wire import errors as wire
from sessions_app.wire.authentication import ApiKeyBearer
from sessions_app.wire.idempotency import MAX_KEY_LENGTH
from sessions_app.wire.schemas import Problem

Described = dict[str, Any]
PROBLEM_JSON = "application/problem+json"
_TAG = {"type": "string", "pattern": '^(W/)?"[^"]*"$'}
_HEADERS: dict[str, Described] = {
    "ETag": {"description": "Changes exactly when what is answered does", "schema": _TAG},
    "Idempotent-Replay": {
        "description": "There where this is the stored answer of an earlier call",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Retry-After": {"description": "Seconds to wait before the next try", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "How to authenticate", "schema": {"type": "string"}},
}
_IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "description": "Makes it safe to repeat the call for 24 hours: the same key and body gets the first answer again",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
    "example": "5f1c7d0e-attempt",
}
_IF_MATCH = {
    "in": "header",
    "name": "If-Match",
    "required": False,
    "description": "`ETag` of the record as you read it, or `*`: 412 where it has changed since",
    "schema": {"type": "string"},
}
_IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "required": False,
    "description": "`ETag` of what you have: 304 with no body where it is still the same",
    "schema": {"type": "string"},
}


class _Shapes(NinjaGenerateJsonSchema):
    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        return value  # in the order in which it is written down, examples above all


class Document(OpenAPISchema):
    """The description, with headers, failures, examples and scope added to each operation."""

    def __init__(self, api: NinjaAPI, path_prefix: str) -> None:
        super().__init__(api, path_prefix)
        self.schemas["Problem"] = self._shape(Problem)
        _drop_unused(self)
        for path in self["paths"].values():
            for operation in path.values():
                _add_examples(operation, self.schemas)

    def operation_details(self, operation: Operation) -> Described:
        """What ninja knows of the operation, and what all of its kind share."""
        details: Described = super().operation_details(operation)
        (method,), bearer = operation.methods, cast(ApiKeyBearer, operation.auth_callbacks[0])
        own = details.pop("x-errors", ())
        details["x-codes"] = [failure.code for failure in own]
        scope = "platform" if bearer.platform else bearer.scope.word
        details["x-scope"] = scope
        details["description"] = f"{details['description']}\n\nScope: `{scope}`."
        _add_headers(method, details)
        details["responses"] |= _failure_answers([*_common_failures(method, bearer, details), *own])
        return details

    def _create_schema_from_model(
        self, model: Any, by_alias: bool = True, remove_level: bool = True, mode: JsonSchemaMode = "validation"
    ) -> tuple[Described, bool]:
        """As ninja's, but answers by alias too: that is how they are sent."""
        schema = self._shape(model, mode)
        if remove_level and len(schema["properties"]) == 1:
            ((name, only),) = schema["properties"].items()
            return only, name in schema.get("required", ())
        return schema, True

    def _shape(self, model: Any, mode: JsonSchemaMode = "serialization") -> Described:
        schema: Described = model.model_json_schema(
            ref_template=REF_TEMPLATE, schema_generator=_Shapes, by_alias=True, mode=mode
        )
        self.add_schema_definitions(schema.pop("$defs", {}))
        return schema


def _common_failures(method: str, bearer: ApiKeyBearer, details: Described) -> Iterator[type[wire.DomainError]]:
    """What can go wrong in every operation of this kind."""
    yield NotAuthenticated
    if bearer.platform or bearer.scope:  # every key may read
        yield InsufficientScope
    places = {parameter["in"] for parameter in details["parameters"]}
    if "path" in places:
        yield wire.NotFound
    if "query" in places or "requestBody" in details:
        yield wire.InvalidRequest
    if "requestBody" in details:
        yield from (wire.MalformedBody, wire.BodyTooSlow, wire.BodyTooLarge, wire.UnsupportedMedia)
    if method == "POST":
        yield from (wire.IdempotencyMismatch, wire.IdempotencyInProgress)
    elif method != "GET":
        yield wire.PreconditionFailed
    if method != "GET":
        yield wire.Busy
    yield wire.DatabaseUnavailable


def _add_headers(method: str, details: Described) -> None:
    if method == "GET":
        details["parameters"].append(_IF_NONE_MATCH)
        details["responses"][HTTPStatus.OK]["headers"] = {"ETag": _HEADERS["ETag"]}
        headers = {"ETag": _HEADERS["ETag"]}
        details["responses"][HTTPStatus.NOT_MODIFIED] = {"description": "Not Modified", "headers": headers}
    elif method == "POST":
        details["parameters"].append(_IDEMPOTENCY_KEY)
        details["responses"][HTTPStatus.CREATED]["headers"] = {"Idempotent-Replay": _HEADERS["Idempotent-Replay"]}
    else:
        details["parameters"].append(_IF_MATCH)


def _failure_answers(failures: Iterable[type[wire.DomainError]]) -> dict[int, Described]:
    """One answer for each status, with its codes and an example of each."""
    by_status: defaultdict[HTTPStatus, list[type[wire.DomainError]]] = defaultdict(list)
    for failure in failures:
        by_status[STATUS[failure]].append(failure)
    return {int(status): _failure_answer(status, by_status[status]) for status in sorted(by_status)}


def _failure_answer(status: HTTPStatus, failures: list[type[wire.DomainError]]) -> Described:
    codes = [failure.code for failure in failures]
    one_of = {"type": "object", "properties": {"code": {"enum": codes}}}
    examples = {code: {"value": example_of(failure)} for code, failure in zip(codes, failures, strict=True)}
    schema = {"allOf": [{"$ref": "#/components/schemas/Problem"}, one_of]}
    answer: Described = {
        "description": f"{status.phrase}: {', '.join(f'`{code}`' for code in codes)}",
        "content": {PROBLEM_JSON: {"schema": schema, "examples": examples}},
    }
    name = {HTTPStatus.UNAUTHORIZED: "WWW-Authenticate", HTTPStatus.SERVICE_UNAVAILABLE: "Retry-After"}.get(status)
    return answer | ({"headers": {name: _HEADERS[name]}} if name else {})


def _add_examples(operation: Described, schemas: dict[str, Described]) -> None:
    """Each body and each answer gets an example where it has none, made of those of its schema."""
    for body in (operation.get("requestBody", {}), *operation["responses"].values()):
        for content in body.get("content", {}).values():
            if "example" not in content and "examples" not in content:
                content["example"] = _example(content["schema"], schemas)


def _example(schema: Described, schemas: dict[str, Described]) -> Any:
    if "$ref" in schema:
        return _example(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "examples" in schema:
        return schema["examples"][0]
    if "properties" in schema:
        return {name: _example(schema["properties"][name], schemas) for name in schema["required"]}
    if schema.get("type") == "array":
        return [_example(schema["items"], schemas)]
    if "anyOf" in schema:
        shapes = [shape for shape in schema["anyOf"] if "$ref" in shape]
        return _example(shapes[0], schemas) if shapes else None
    raise ValueError(f"Nothing says what this looks like: {schema}")


def _drop_unused(document: Described) -> None:
    """Ninja lists parameters among the schemas too, where nothing refers to them."""
    schemas: dict[str, Described] = document["components"]["schemas"]
    used: set[str] = {"Problem"}
    waiting: list[Any] = [document["paths"]]
    while waiting:
        named = set(re.findall(r"#/components/schemas/([\w.-]+)", repr(waiting.pop()))) - used
        used |= named
        waiting.extend(schemas[name] for name in named)
    for name in schemas.keys() - used:
        del schemas[name]
