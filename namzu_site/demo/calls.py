"""Tool calls as messages carry them."""

from typing import Any


def call(call_id: str, function: str, arguments: str) -> dict[str, Any]:
    """One call in an assistant's message; `arguments` is the text the model wrote."""
    return {"id": call_id, "type": "function", "function": {"name": function, "arguments": arguments}}
