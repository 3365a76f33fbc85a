"""Deployments: rollouts watched region by region, an incident, and checks every night."""

from namzu_site.demo.shapes import Edge, Node, ProjectPlan, Work, agent, ago, system, user

_WATCH = system("deploy_watch")
_WATCHER = agent("watcher", _WATCH)


def _region(region: str, hours: float, status: str, edge: str, answer: str, children: tuple[Node, ...] = ()) -> Node:
    return Node(
        f"rollout-{region}",
        f"Rollout 2026.48.3 in {region}",
        _WATCHER,
        ago(hours=hours),
        status=status,
        edge=Edge(status=edge, failure_mode="fail_fast"),
        work=Work(
            f"Watch {region} from 10 % to all, ask when a guard is red.",
            f"deployctl guards --region {region} --window 5m",
            f"region={region} errors=0.1% p95={1900 if region == 'us' else 212}ms queue=340",
            answer,
        ),
        children=children,
    )


_ROLLOUT = Node(
    "rollout",
    "Rollout of 2026.48.3",
    _WATCH,
    ago(hours=14),
    status="awaiting_hitl",
    transcript="rollout",
    children=(
        _region("eu", 13.5, "idle", "idle", "Green for 60 minutes at 100 %. ✅"),
        _region(
            "us",
            7.5,
            "awaiting_hitl",
            "active",
            "**Red:** p95 is 1,900 ms at 25 %. I hold here.",
            (
                Node(
                    "rollout-us-why",
                    "Why is us slow?",
                    agent("profiler", _WATCHER),
                    ago(hours=7),
                    status="active",
                    edge=Edge(status="active"),
                    work=Work(
                        "p95 went from 212 to 1,900 ms in us only. What is different there?",
                        "profilectl top --region us --release 2026.48.3 | head -4",
                        "61%  tls_handshake\n12%  json_decode\n 9%  quote\n 4%  gc",
                        "Connections to the tax service are **not kept** in us: its proxy answers `Connection: close`.",
                    ),
                ),
            ),
        ),
        _region("ap", 0.5, "idle", "pending", "Waiting for us."),
    ),
)

_INCIDENT = Node(
    "queue",
    "Queue depth rises since 14:00",
    user("oncall"),
    ago(days=7),
    transcript="incident",
    previous=(agent("triage"),),
    children=(
        Node(
            "queue-timeout",
            "Timeout for idle transactions",
            agent("operator", user("oncall")),
            ago(days=6, hours=22),
            edge=Edge(status="merged", completion_mode="merge_back"),
            work=Work(
                "Set the timeout for the reporting role, on staging first.",
                "psql -c \"alter role reporting set idle_in_transaction_session_timeout = '5min'\"",
                "ALTER ROLE",
                "Set on staging at 16:20 and, after a quiet night, in production at 08:05.",
            ),
        ),
        Node(
            "queue-alert",
            "Alert on the oldest transaction",
            agent("operator", user("oncall")),
            ago(days=6, hours=21),
            edge=Edge(kind="intervention", answers="incidents/2026-11-22.md"),
            work=Work(
                "The follow-up asks for an alert on age. Write the rule and a test for it.",
                "promtool test rules alerts/transactions.test.yaml",
                "Unit Testing:  alerts/transactions.test.yaml\n  SUCCESS",
                "```yaml\n- alert: OldestTransaction\n  expr: max(pg_oldest_xact_seconds) > 300\n```\n\nIt passes.",
            ),
        ),
        Node(
            "queue-timeline",
            "Timeline for the post-mortem",
            agent("scribe", user("oncall")),
            ago(days=6, hours=20),
            status="idle",
            edge=Edge(status="archived"),
            work=Work(
                "Put the channel's messages and the graphs onto one line of time.",
                "wc -l timeline.csv",
                "63 timeline.csv",
                "63 entries from 13:58 to 15:10; the first sign was at **14:06**, the first person looked at 14:31.",
            ),
        ),
        Node(
            "queue-rolled-back",
            "Hand the report to the reporting team",
            user("reporting"),
            ago(days=6, hours=19),
            status="archived",
            edge=Edge(kind="user_handoff", status="failed"),
        ),
    ),
)


def _night(days: int, found: str) -> Node:
    return Node(
        f"night-{days}",
        f"Nightly check, {days} days ago" if days > 1 else "Nightly check, last night",
        system("nightly"),
        ago(days=days, hours=4),
        work=Work(
            "Restore last night's backup into an empty server and count.",
            "restorectl verify --latest",
            f"restored 412 tables in {380 + days * 7} s\n{found}",
            f"Restored and counted: {found}.",
        ),
        children=(
            Node(
                f"night-{days}-counts",
                "Counts against production",
                agent("counter", system("nightly")),
                ago(days=days, hours=3.5),
                work=Work(
                    "Compare the number of rows per table.",
                    "restorectl compare --counts",
                    found,
                    f"Compared 412 tables: {found}.",
                ),
            ),
        ),
    )


DEPLOYMENTS = ProjectPlan(
    "deployments",
    "Deployments",
    {"maxDelegationWidth": 12},
    ago(days=10),
    (
        _ROLLOUT,
        _INCIDENT,
        *(
            _night(days, found)
            for days, found in enumerate(["all equal", "all equal", "2 tables differ by 1 row", "all equal"], 1)
        ),
        Node(
            "certificates",
            "Certificates that end this month",
            None,
            ago(days=9, hours=12),
            work=Work(
                "Which certificates end before the month does?",
                "certctl list --ends-within 30d",
                "api.shop.example    2026-12-11\nmail.shop.example   2026-12-19",
                "Two. Both renew by themselves; I checked that the renewal *ran* last time.",
            ),
        ),
    ),
)
