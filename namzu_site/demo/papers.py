"""The reading desk: papers read, tables replicated, reports answered."""

from datetime import timedelta

from namzu_site.demo.shapes import Edge, Node, ProjectPlan, Work, agent, ago, system, user

_LEAD = user("research_lead")
_PLANNER = agent("reading_planner", _LEAD)


def _reader(name: str, label: str, began: timedelta, status: str, children: tuple[Node, ...]) -> Node:
    return Node(
        f"survey-{name}",
        label,
        agent(f"reader_{name}", _PLANNER),
        began,
        status="active" if status == "active" else "idle",
        edge=Edge(kind="user_handoff", status=status, broadcast="bcast_demo_survey"),
        transcript="acceptance" if name == "acceptance" else None,
        work=Work(
            f"Your part of the survey: {label.lower()}. One page, with the pages you rest on.",
            f"ls notes/survey/{name}",
            "questions.md  sources.md",
            f"I begin with the sources. A draft of `notes/survey/{name}/answer.md` is there by the evening.",
        ),
        children=children,
    )


def _check(parent: str, name: str, label: str, began: timedelta, found: str, status: str = "idle") -> Node:
    return Node(
        f"survey-{parent}-{name}",
        label,
        agent("checker", agent(f"reader_{parent}", _PLANNER)),
        began,
        status="active" if status == "active" else "idle",
        edge=Edge(status=status),
        work=Work(label + ". Only what can be pointed at.", f"python check.py {name}", "checked 6 of 6", found),
    )


_SURVEY = Node(
    "survey",
    "Speculative decoding with a draft of another family",
    _PLANNER,
    ago(days=2),
    status="awaiting_merge",
    transcript="survey",
    children=(
        _reader(
            "acceptance",
            "Acceptance and vocabularies",
            ago(days=1, hours=22),
            "idle",
            (
                _check(
                    "acceptance",
                    "overlap",
                    "Overlap of our two vocabularies",
                    ago(days=1, hours=20),
                    "**68 %** shared.",
                ),
                _check(
                    "acceptance", "copy", "A readable copy of the encrypted file", ago(days=1, hours=19), "Found one."
                ),
            ),
        ),
        _reader(
            "systems",
            "Batching and the gain",
            ago(days=1, hours=22),
            "awaiting_merge",
            (
                _check(
                    "systems", "batch", "Gain at batch 1, 8 and 32", ago(days=1, hours=18), "1.9 ×, 1.4 ×, **0.97 ×**."
                ),
                _check(
                    "systems", "memory", "Memory of the draft", ago(days=1, hours=17), "2.1 GB beside 14.", "active"
                ),
            ),
        ),
        _reader("numbers", "Measured on one machine", ago(days=1, hours=22), "active", ()),
    ),
)

_REPLICATION = Node(
    "table-2",
    "Replicate table 2",
    agent("replicator", user("reviewer")),
    ago(days=6),
    status="failed",
    work=Work(
        "Get table 2 of `papers/routing.pdf` from the authors' code. Three seeds.",
        "python train.py --config table2.yaml --seed 0",
        "RuntimeError: CUDA out of memory. Tried to allocate 3.12 GiB (GPU 0; 23.69 GiB total capacity)",
        "It does not fit: the paper used 80 GB. With half the batch the first seed gives 61.2 instead of **63.8**.\n\n"
        "> I stop here. A smaller batch is another experiment, not a replication.",
    ),
    children=(
        Node(
            "table-2-data",
            "Same data as the paper?",
            agent("checker", agent("replicator", user("reviewer"))),
            ago(days=5, hours=22),
            edge=Edge(failure_mode="fail_fast"),
            work=Work(
                "Compare our copy with the hashes in the appendix.",
                "sha256sum -c appendix.sha256",
                "train.parquet: OK\ndev.parquet: OK\ntest.parquet: FAILED",
                "Train and dev are the paper's. **Test differs** in 14 rows: ours has the corrected labels of March.",
            ),
        ),
        Node(
            "table-2-seeds",
            "Seeds 1 and 2",
            agent("runner", agent("replicator", user("reviewer"))),
            ago(days=5, hours=20),
            status="failed",
            edge=Edge(status="failed", failure_mode="fail_fast"),
            work=Work(
                "Run seeds 1 and 2 with half the batch.",
                "python train.py --config half.yaml --seed 1",
                "Killed\nexit code 137",
                "The machine ended the process at 22 GB of memory; the second seed was not begun.",
            ),
        ),
    ),
)

_REPORTS = Node(
    "weekly",
    "Weekly report: serving",
    agent("reporter", _LEAD),
    ago(days=9),
    work=Work(
        "Write the weekly report from the notes. Two pages at most.",
        "wc -w reports/2026-47.md",
        "812 reports/2026-47.md",
        "`reports/2026-47.md`: 812 words, three figures. The third figure has no source yet.",
    ),
    children=(
        Node(
            "weekly-figures",
            "Figures of the report",
            agent("plotter", agent("reporter", _LEAD)),
            ago(days=8, hours=20),
            work=Work(
                "Draw the three figures, with the query below each.",
                "ls reports/2026-47",
                "latency.svg  queue.svg  share.svg",
                "Two have their query. `share.svg` was drawn by hand from the slide, I marked it.",
            ),
        ),
        Node(
            "weekly-source",
            "Where does the third figure come from?",
            agent("checker", _LEAD),
            ago(days=7),
            edge=Edge(kind="intervention", answers="reports/2026-47/share.svg"),
            work=Work(
                "The third figure has no source. Find it or drop the figure.",
                "grep -rn 'share' slides/2026-11.md",
                'slides/2026-11.md:88: "share of cached prompts, rough guess"',
                "It was *a rough guess* on a slide. The report now says so, and the figure is out.",
            ),
        ),
        Node(
            "weekly-second-look",
            "Second look at the numbers",
            user("reviewer"),
            ago(days=6, hours=12),
            edge=Edge(kind="intervention", answers="reports/2026-47.md"),
            work=Work(
                "Paragraph 4 says 41 %, the query says 14 %. Which is it?",
                "psql notes -f reports/2026-47/queue.sql",
                " share\n-------\n  0.14",
                "14 %. The digits were swapped; corrected, and the summary sentence with it.",
            ),
        ),
    ),
)

PAPERS = ProjectPlan(
    "papers",
    "Reading desk",
    {"maxDelegationDepth": 3, "maxInterventionDepth": 5, "sharedDeliverables": True},
    ago(days=10),
    (
        _SURVEY,
        _REPLICATION,
        _REPORTS,
        Node("mail", None, None, ago(days=5), transcript="unusual"),
        Node(
            "inbox",
            None,
            system("inbox"),
            ago(hours=9),
            work=Work(
                "Sort what arrived over night into the collections.",
                "ls inbox | wc -l",
                "17",
                "Fifteen sorted. Two are the same paper with another title page; I kept the longer one.",
            ),
        ),
    ),
)
