"""A long piece of work: the cart moves out of the web session, caller by caller, in about 1,200 messages."""

import json
from typing import Any

from namzu_site.demo.calls import call

_CALLERS = (
    ("shop/cart/views.py", "add_line", "adds a line"),
    ("shop/cart/views.py", "remove_line", "removes a line"),
    ("shop/cart/merge.py", "merge_after_sign_in", "joins the guest's cart with the account's"),
    ("shop/cart/expiry.py", "drop_stale", "drops carts nobody came back to"),
    ("shop/checkout/summary.py", "summarise", "reads all lines at once"),
    ("shop/checkout/reserve.py", "reserve_stock", "reads lines while stock changes"),
    ("shop/vouchers/apply.py", "applicable", "reads only the net amount"),
    ("shop/shipping/quote.py", "quote", "reads weights"),
    ("shop/mails/reminder.py", "remind", "runs without a request"),
    ("shop/api/cart.py", "read", "answers the app"),
    ("shop/api/cart.py", "write", "takes whole carts from the app"),
    ("shop/reports/abandoned.py", "rows", "counts carts by day"),
)
_SHOPS = ("de", "at", "ch", "fr", "es", "it", "nl", "pl", "se", "no", "jp", "us", "uk")
_WORDING = (
    "Next: `{function}` in `{file}`, shop **{shop}**. It {does}.",
    "Go on with `{function}` ({file}) for **{shop}**. Mind that it {does}.",
    "`{function}` for {shop}, please. As before: test first.",
)


def long_transcript() -> list[dict[str, Any]]:
    """1,249 messages: one to begin with, and eight for each caller in each shop."""
    rules = (
        "You move one caller at a time from `request.session['cart']` to the table `cart_line`, and keep both alive."
    )
    messages: list[dict[str, Any]] = [{"role": "system", "content": rules, "cacheHint": "cache"}]
    for number, (shop, caller) in enumerate((shop, caller) for shop in _SHOPS for caller in _CALLERS):
        messages += _step(number, shop, *caller)
    return messages


def _step(number: int, shop: str, file: str, function: str, does: str) -> list[dict[str, Any]]:
    asked = _WORDING[number % len(_WORDING)].format(file=file, function=function, does=does, shop=shop)
    read, test = f"call_{number:03d}_read", f"call_{number:03d}_test"
    line = 20 + number * 7 % 180
    source = f"def {function}(request):\n    cart = request.session.get('cart', {{}})\n    ...  # {does}\n"
    return [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": None, "toolCalls": [_call(read, "read_file", path=file, line=line)]},
        {"role": "tool", "content": source, "toolCallId": read},
        {"role": "assistant", "content": _plan(shop, function, does)},
        {
            "role": "assistant",
            "content": None,
            "toolCalls": [_call(test, "run_shell", command=f"pytest -k {function}")],
        },
        {"role": "tool", "content": _printed(number), "toolCallId": test},
        {"role": "assistant", "content": _report(number, shop, file, function, line)},
        {"role": "user", "content": "Looks right, keep it." if number % 5 else "Is the old path still read anywhere?"},
    ]


def _call(call_id: str, function: str, **arguments: Any) -> dict[str, Any]:
    return call(call_id, function, json.dumps(arguments))


def _plan(shop: str, function: str, does: str) -> str:
    return (
        f"`{function}` {does}, so for **{shop}**:\n\n1. read from `cart_line` where a row is there\n"
        "2. else from the session, and write it over\n3. count how often that still happens"
    )


def _printed(number: int) -> str:
    passed = 3 + number % 6
    if number % 11 == 7:
        return f"F{'.' * passed}\nE   assert 3 == 2 (the guest's line was counted twice)\n1 failed, {passed} passed"
    return f"{'.' * passed}\n{passed} passed in {0.31 + number % 9 / 10:.2f}s"


def _report(number: int, shop: str, file: str, function: str, line: int) -> str:
    if number % 11 == 7:
        return f"One failed: the guest's line was there twice for **{shop}**. `UNIQUE (cart_id, sku)` now refuses that."
    return (
        f"Moved `{function}` for {shop}.\n\n"
        f"```python\n# {file}:{line}\nlines = CartLine.objects.of(request.cart)\n```\n\n"
        "| | before | after |\n|---|---:|---:|\n"
        f"| queries | {1 + number % 3} | 1 |\n| ms | {9 + number % 14} | {2 + number % 3} |"
    )
