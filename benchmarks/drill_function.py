"""`python -m benchmarks.drill_function`: times the drill without HTTP, for the process that started it.

Reads lines of session ids (JSON lists) from standard input and answers each with a list of seconds.
"""

import json
import sys
from time import perf_counter

import django

django.setup()

from benchmarks.load import TENANT  # noqa: E402 - models can be imported from here on
from sessions_app.hierarchy.api.reads import drill  # noqa: E402
from sessions_app.hierarchy.models import Tenant  # noqa: E402
from sessions_app.hierarchy.schemas import SessionPath  # noqa: E402
from sessions_app.wire.authentication import ApiRequest  # noqa: E402


def main() -> None:
    """Answers until there is nothing more to read."""
    request = ApiRequest()
    request.tenant = Tenant.objects.get(public_id=TENANT)
    for line in sys.stdin:
        print(json.dumps([_seconds(request, session_id) for session_id in json.loads(line)]), flush=True)


def _seconds(request: ApiRequest, session_id: str) -> float:
    at = SessionPath(tenant_id=TENANT, session_id=session_id)
    began = perf_counter()
    drill(request, at)
    return perf_counter() - began


if __name__ == "__main__":
    main()
