"""The shop's repository: a voucher that breaks the checkout, and work beside it."""

from namzu_site.demo.shapes import LONG, Edge, Node, ProjectPlan, Work, agent, ago, system, user

_ONCALL = user("oncall")
_PLANNER = agent("planner", _ONCALL)
_FIXER = agent("fixer", _PLANNER)

_FLAKY = Node(
    "vouchers-flaky",
    "Five amounts that never passed",
    agent("tester", _FIXER),
    ago(hours=20),
    status="active",
    edge=Edge(status="active"),
    work=Work(
        "Five amounts ending in 17 and 06 fail before and after the change. Why?",
        "pytest tests/checkout/test_rounding.py -k '17 or 06' -q",
        "FFFFF\nE   assert 10617 == 10616\n5 failed in 0.44s",
        "Rounding happens **twice**: once per line and once per order. `bisect` has the release where it began.",
    ),
    children=(
        Node(
            "vouchers-bisect",
            "Find the release that rounds twice",
            agent("bisector", agent("tester", _FIXER)),
            ago(hours=19),
            work=Work(
                "Bisect between 2026.31.0 and 2026.48.1 with the five amounts.",
                "git bisect run pytest tests/checkout/test_rounding.py -q",
                "running pytest …\n31d0c77 is the first bad commit\n    Show prices with tax",
                "`31d0c77` *Show prices with tax*, in release 2026.40.0. Nine weeks, about 1 cent on 0.8 % of orders.",
            ),
            children=(
                Node(
                    "vouchers-build",
                    "Build the releases that no longer build",
                    agent("builder", agent("bisector", agent("tester", _FIXER))),
                    ago(hours=18, minutes=40),
                    work=Work(
                        "Releases 2026.35 to 2026.38 don't build any more, and the bisection needs them.",
                        "docker build --build-arg RELEASE=2026.36.0 .",
                        "ERROR: No matching distribution found for money-format==1.4.2",
                        "`money-format` 1.4.2 was withdrawn. With the copy from our cache all four build.",
                    ),
                ),
            ),
        ),
    ),
)

_FIX = Node(
    "vouchers-fix",
    "Cap the voucher at the basket",
    _FIXER,
    ago(hours=26),
    status="active",
    edge=Edge(status="active", completion_mode="merge_back"),
    transcript="vouchers_fix",
    children=(
        Node(
            "vouchers-patch",
            "Patch for the totals",
            agent("coder", _FIXER),
            ago(hours=25),
            edge=Edge(status="merging", completion_mode="merge_back"),
            work=Work(
                "Bring the patch onto release/2026.48 and open it for review.",
                "git cherry-pick 90ab1f2 && git push origin HEAD:review/vouchers",
                "[review/vouchers 5d1c3e8] Cap vouchers at the basket\n 2 files changed, 9 insertions(+)",
                "`5d1c3e8` is up for review: two files, no conflicts with the release branch.",
            ),
        ),
        Node(
            "vouchers-ledger",
            "Credit what is left of a voucher",
            agent("coder", _FIXER),
            ago(hours=24),
            edge=Edge(status="pending_merge", completion_mode="merge_back"),
            work=Work(
                "Write what is left of a voucher into the ledger, once per order, also after a retry.",
                "psql shop -c '\\d ledger'",
                'Indexes:\n    "ledger_pkey" PRIMARY KEY\n    "ledger_once" UNIQUE (order_id, kind)',
                "`INSERT … ON CONFLICT (order_id, kind) DO NOTHING`: a retried order credits nothing twice.",
            ),
        ),
        Node(
            "vouchers-css",
            "Show the remaining credit",
            agent("stylist", _FIXER),
            ago(hours=23),
            edge=Edge(status="merge_conflict", completion_mode="merge_back"),
            work=Work(
                "Show what stays on the account below the total.",
                "git merge release/2026.48",
                "CONFLICT (content): Merge conflict in static/checkout.css\nAutomatic merge failed",
                "Both branches move `.total` in `static/checkout.css`. Somebody has to say which of the two stays.",
            ),
        ),
        _FLAKY,
    ),
)

_VOUCHERS = Node(
    "vouchers",
    "Checkout fails with vouchers",
    _PLANNER,
    ago(hours=28),
    status="active",
    transcript="vouchers",
    children=(
        Node(
            "vouchers-repro",
            "Reproduce the negative total",
            agent("reproducer", _PLANNER),
            ago(hours=27),
            edge=Edge(failure_mode="fail_fast"),
            work=Work(
                "Write a failing test for a basket of 7.90 € and a voucher of 10 €.",
                "pytest tests/checkout/test_vouchers.py -q",
                "F\nE   AssertionError: total must not be negative\n1 failed in 0.12s",
                "`test_voucher_larger_than_basket` fails as the customers' orders do, on branch `repro/88213`.",
            ),
        ),
        _FIX,
        Node(
            "vouchers-load",
            "Does the new total cost anything?",
            agent("measurer", _PLANNER),
            ago(hours=22),
            status="failed",
            edge=Edge(status="failed"),
            work=Work(
                "Compare p95 of the quote with and without the patch at 200 requests/s.",
                "k6 run --vus 200 quote.js",
                "ERRO[0003] dial tcp 10.4.0.12:443: connect: connection refused",
                "I could not measure: the staging shop refuses connections. I gave up after **5 attempts**.",
            ),
        ),
        Node(
            "vouchers-text",
            "Text of the notice in eight languages",
            agent("translator", _PLANNER),
            ago(hours=21),
            edge=Edge(status="merged", completion_mode="merge_back"),
            transcript="languages",
        ),
        Node(
            "vouchers-shortcut",
            "Ignore vouchers above the basket",
            agent("coder", _PLANNER),
            ago(hours=21),
            edge=Edge(status="merge_rejected", completion_mode="merge_back"),
            work=Work(
                "As a stopgap: refuse vouchers that are worth more than the basket.",
                "git diff --stat",
                " shop/vouchers/apply.py | 2 ++\n 1 file changed, 2 insertions(+)",
                "Two lines. It would turn away 4 % of orders until the fix is out, so I'd rather not merge it.",
            ),
        ),
        Node(
            "vouchers-review",
            "Review: cap the voucher",
            user("reviewer"),
            ago(hours=6),
            status="awaiting_hitl",
            edge=Edge(kind="user_handoff", status="active"),
            work=Work(
                "Please review `5d1c3e8`, above all what is written to the ledger.",
                "git show 5d1c3e8 --stat",
                " shop/totals/vouchers.py | 9 ++++++---\n shop/ledger/rest.py     | 14 ++++++++++++++",
                "Ready to be reviewed. Two questions are marked in `shop/ledger/rest.py`.",
            ),
        ),
    ),
)

_TAXES = Node(
    "taxes",
    "Round tax per line, not per order",
    agent("planner", user("accounting")),
    ago(days=3),
    status="awaiting_hitl",
    work=Work(
        "31d0c77 rounds twice. Accounting wants tax rounded per line; what follows from that?",
        "git grep -n 'round(' shop/ | wc -l",
        "14",
        "### Fourteen places\n\n- 9 are displays and stay\n- 4 round an amount that is stored\n- 1 is the invoice\n\n"
        "Changing the four changes **past totals on reprinted invoices**. I need a yes or a no before I go on.",
    ),
    children=(
        Node(
            "taxes-rules",
            "What the law asks for in eight countries",
            agent("reader", agent("planner", user("accounting"))),
            ago(days=2, hours=22),
            work=Work(
                "Per line or per order: what is allowed where?",
                "grep -c . notes/rounding/*.md",
                "notes/rounding/at.md:41\nnotes/rounding/ch.md:38\nnotes/rounding/de.md:55",
                "| | per line | per order |\n|---|:-:|:-:|\n| AT | ✓ | ✓ |\n| CH | ✓ (5 Rp.) | – |\n| DE | ✓ | ✓ |",
            ),
        ),
        Node(
            "taxes-backfill",
            "Backfill of stored tax",
            agent("migrator", agent("planner", user("accounting"))),
            ago(days=2, hours=20),
            edge=Edge(status="pending", completion_mode="merge_back"),
        ),
    ),
)

_THREE_D = Node(
    "bank-check",
    "Bank's confirmation page loops on Safari",
    user("payments"),
    ago(days=4),
    previous=(agent("triage"), agent("planner", user("oncall"))),
    work=Work(
        "Customers on Safari come back from the bank and land on the bank again.",
        "grep -c 'SameSite' logs/headers-safari.txt",
        "0",
        "The return is a cross-site POST, and the cookie is `SameSite=Lax`: Safari sends none, the shop starts over.",
    ),
    children=(
        Node(
            "bank-check-handed",
            "Decide: return by GET or a second cookie",
            user("payments"),
            ago(days=3, hours=20),
            edge=Edge(kind="user_handoff"),
            work=Work(
                "Over to you: the bank allows both, it is a question of what we want to maintain.",
                "cat docs/payments/return.md | head -3",
                "# Return from the bank\n\nToday: POST with a form.",
                "Decided for **GET with a signed state**. The second cookie would need a banner in three countries.",
            ),
        ),
    ),
)

_CART = Node(
    "cart",
    "Move the cart from the web session to the database",
    agent("refactorer", user("platform")),
    ago(days=8),
    status="active",
    transcript=LONG,
    children=tuple(
        Node(
            f"cart-{shop}",
            f"Switch {shop} over",
            agent("migrator", agent("refactorer", user("platform"))),
            ago(days=5, hours=number),
            edge=Edge(completion_mode="merge_back", status=status),
            work=Work(
                f"Read carts of {shop} only from the table. Watch the counter of old reads for an hour first.",
                f"shopctl counter cart.read_from_session --shop {shop} --window 1h",
                f"shop={shop} count={count}",
                f"{count} old reads in the last hour: " + ("switched over." if not count else "not yet, I look again."),
            ),
        )
        for number, (shop, status, count) in enumerate(
            [("de", "merged", 0), ("fr", "merged", 0), ("jp", "idle", 12), ("us", "pending_merge", 0)]
        )
    ),
)

SHOP = ProjectPlan(
    "shop",
    "Shop",
    {"maxDelegationDepth": 4, "maxDelegationWidth": 8},
    ago(days=10),
    (
        _VOUCHERS,
        _TAXES,
        _THREE_D,
        _CART,
        Node("stock", "Hand stock reservation to the warehouse team", user("platform"), ago(hours=2), status="locked"),
        Node(
            "dependencies",
            "Weekly update of dependencies",
            system("scheduler"),
            ago(days=1, hours=3),
            work=Work(
                "Update what has fixes only, run everything, open one change.",
                "uv lock --upgrade && git diff --stat uv.lock",
                " uv.lock | 84 ++++++++++++++++++++++++++++----------------------------",
                "Eleven packages, all tests pass. `pillow` stays: its next release drops our Python.",
            ),
        ),
    ),
)
