"""The explorer over HTTP: the tree opened along a path, bounded levels, tombstones, and who sees what."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from namzu_site.explorer.tree import CHILDREN, ROOTS
from sessions_app.hierarchy.models import Project, Session, SubSession
from sessions_app.wire.cursors import encode_cursor
from tests.factories import (
    agent_actor,
    at,
    make_child,
    make_project,
    make_session,
    make_tenant,
    make_user,
    say,
    signed_in,
    user_actor,
)

pytestmark = pytest.mark.django_db
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


@pytest.fixture
def project() -> Project:
    return make_project(name="Checkout")


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(make_user(project.tenant))


def get(client: Client, project: Project, place: str, status: int = 200, *, partial: bool = False) -> str:
    response = client.get(f"/t/{project.tenant.public_id}/{place}", headers=PARTIAL if partial else None)
    assert response.status_code == status, response.status_code
    if status == 200:
        assert "HX-Request" in response.headers["Vary"]
    return response.content.decode()


def page_of(client: Client, session: Session, rest: str = "", *, partial: bool = False) -> str:
    return get(client, session.project, f"sessions/{session.public_id}/{rest}", partial=partial)


def nodes(html: str) -> list[str]:
    """The ids of the sessions in the tree, as they stand."""
    return re.findall(r'id="node-(ses_\w+)"', html)


def attributes(html: str, session: Session) -> str:
    match = re.search(rf'<a role="treeitem"[^>]*id="node-{session.public_id}"[^>]*>', html)
    assert match
    return match[0]


def spawn(parent: Session, count: int) -> list[Session]:
    start = at(60)
    return [make_child(parent, now=start + timedelta(seconds=step)).child for step in range(count)]


def test_the_explorer_lists_roots_newest_first(client: Client, project: Project) -> None:
    old, new = (make_session(project, now=at(ago)) for ago in (10, 5))
    make_child(old)
    html = get(client, project, "explorer/")
    assert nodes(html) == [new.public_id, old.public_id]
    assert 'aria-expanded="false"' in attributes(html, old)
    assert "aria-expanded" not in attributes(html, new)


def test_the_explorer_narrows_to_a_project(client: Client, project: Project) -> None:
    mine = make_session(project)
    make_session(make_project(project.tenant))
    assert nodes(get(client, project, f"explorer/?project={project.public_id}")) == [mine.public_id]


def test_more_roots_come_by_cursor(client: Client, project: Project) -> None:
    made = [make_session(project, now=at(ROOTS + 5 - step)).public_id for step in range(ROOTS + 5)]
    first = get(client, project, "explorer/")
    more = re.search(r'hx-get="[^"]*/explorer/(\?after=[^"&]+)"', first)
    assert more
    rest = get(client, project, f"explorer/{more[1]}", partial=True)
    assert "<html" not in rest
    assert nodes(first) + nodes(rest) == made[::-1]


def test_a_deep_link_opens_the_path_and_nothing_else(client: Client, project: Project) -> None:
    root = make_session(project)
    first, second = spawn(root, 2)
    below_first, below_second = make_child(first).child, make_child(second).child
    deepest = make_child(below_first).child
    html = page_of(client, below_first)
    assert nodes(html) == [item.public_id for item in (root, first, below_first, deepest, second)]
    assert below_second.public_id not in html
    for opened in (root, first, below_first):
        assert 'aria-expanded="true"' in attributes(html, opened)
    assert 'aria-expanded="false"' in attributes(html, second)
    assert 'aria-current="page"' in attributes(html, below_first)
    assert html.count('aria-level="3"') == 1


def test_the_path_stands_in_the_tree_however_many_siblings_it_has(client: Client, project: Project) -> None:
    root = make_session(project)
    children = spawn(root, CHILDREN + 10)
    html = page_of(client, children[-1])
    assert len(nodes(html)) == 1 + CHILDREN + 1
    assert 'aria-current="page"' in attributes(html, children[-1])
    assert "More children" in html


def test_an_old_root_is_in_its_own_tree(client: Client, project: Project) -> None:
    old = make_session(project, now=at(600))
    for _ in range(ROOTS + 1):
        make_session(project)
    html = page_of(client, old)
    assert 'aria-current="page"' in attributes(html, old)
    assert len(nodes(html)) == ROOTS + 1


def test_children_come_in_bounded_pieces(client: Client, project: Project) -> None:
    root = make_session(project)
    made = [child.public_id for child in spawn(root, CHILDREN + 10)]
    first = get(client, project, f"tree/{root.public_id}/", partial=True)
    more = re.search(r'hx-get="[^"]*(\?after=[^"]+)"', first)
    assert more
    assert nodes(first) == made[:CHILDREN]
    assert nodes(get(client, project, f"tree/{root.public_id}/{more[1]}", partial=True)) == made[CHILDREN:]
    assert client.get(f"/t/{project.tenant.public_id}/tree/{root.public_id}/").status_code == 302


def test_htmx_gets_the_right_pane_alone(client: Client, project: Project) -> None:
    session = make_session(project, label="The one")
    html = page_of(client, session, partial=True)
    assert "<title>The one" in html
    assert "<html" not in html
    assert 'role="tree"' not in html
    assert "<h1>" in html


def test_a_tombstone_stands_in_its_place(client: Client, project: Project) -> None:
    root = make_session(project)
    first, second, third = spawn(root, 3)
    SubSession.objects.filter(child=second).update(status="archived", archive_ref="arc_1", archived_at=at(30))
    html = page_of(client, root)
    assert nodes(html)[1:] == [first.public_id, second.public_id, third.public_id]
    assert "node--tombstone" in attributes(html, second)
    assert "arc_1" in html
    assert "The messages are archived" in page_of(client, second)


def test_the_page_says_whose_it_was_and_where_it_hangs(client: Client, project: Project) -> None:
    tenant = project.tenant
    root = make_session(project, label="Rewrite")
    edge = make_child(root, kind="user_handoff", label="Carry on")
    nested = {**agent_actor(tenant, "agt_inner"), "parentActor": user_actor(tenant, "usr_first")}
    Session.objects.filter(pk=edge.child.pk).update(
        previous_actors=[user_actor(tenant, "usr_older"), nested], owner_version=2, workspace_ref="wsp_1"
    )
    SubSession.objects.filter(pk=edge.pk).update(summary_ref="sum_1", broadcast_group_id="hof_1")
    html = page_of(client, edge.child)
    for words in (
        "usr_older",
        "agt_inner",
        "usr_first",
        "version 2",
        "wsp_1",
        "sum_1",
        "hof_1",
        "Hand-off",
        "delegate",
    ):
        assert words in html, words
    assert html.index("agt_planner") < html.index("agt_inner") < html.index("usr_first") < html.index("usr_older")
    assert f'/sessions/{root.public_id}/"><bdi>Rewrite</bdi>' in html


def test_children_are_a_table_in_order(client: Client, project: Project) -> None:
    root = make_session(project)
    made = [child.public_id for child in spawn(root, 60)]
    first = page_of(client, root, "children/")
    table = first[first.index("<tbody>") : first.index("</tbody>")]
    assert list(dict.fromkeys(re.findall(r'/sessions/(ses_\w+)/"', table))) == made[:50]
    more = re.search(r'href="[^"]*children/(\?after=[^"]+)">Later', first)
    assert more
    assert made[50] in page_of(client, root, f"children/{more[1]}", partial=True)
    assert "No children" in page_of(client, make_session(project), "children/")


def test_children_show_what_the_session_is_at_and_how_its_way_back_went(client: Client, project: Project) -> None:
    root = make_session(project)
    edge = make_child(root, status="awaiting_hitl")
    SubSession.objects.filter(pk=edge.pk).update(status="merge_rejected")
    html = page_of(client, root, "children/")
    table = html[html.index("<tbody>") : html.index("</tbody>")]
    assert "Awaits a person" in table
    assert "Merge rejected" in table


def test_without_a_title_the_tree_says_so_and_tells_them_apart(client: Client, project: Project) -> None:
    session = make_session(project)
    html = client.get(f"/t/{project.tenant.public_id}/explorer/").content.decode()
    assert f'Untitled</span> <code class="untitled-id">{session.public_id}</code>' in html
    assert '<span class="untitled">Untitled</span>' in page_of(client, session)


def test_an_archived_session_names_no_archive_where_none_is_recorded(client: Client, project: Project) -> None:
    html = page_of(client, make_session(project, status="archived"))
    assert "no archive is recorded" in html
    assert "named above" not in html


def test_titles_hide_nothing(client: Client, project: Project) -> None:
    session = make_session(project, label="safe\u202eexe.txt<script>")
    html = page_of(client, session)
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in html
    assert "<script>exe" not in html


def wide_and_narrow(project: Project) -> tuple[Session, Session]:
    """A session with everything once, and one with a hundred children, three levels below a hundred siblings."""
    small = make_session(project)
    make_child(small)
    say(small, "hello")
    big = make_session(project)
    for _ in range(3):
        parent, big = big, make_child(big).child
        copy_children(parent, 120)
    make_child(big)
    copy_children(big, 120)
    for number in range(60):
        say(big, f"message {number}")
    return make_child(small).child, big


@pytest.mark.parametrize("rest", ["", "children/"])
@pytest.mark.parametrize("partial", [False, True])
def test_the_number_of_queries_does_not_grow(client: Client, project: Project, rest: str, partial: bool) -> None:
    counts = []
    for session in wide_and_narrow(project):
        say(session, "one more")
        page_of(client, session, rest, partial=partial)
        with CaptureQueriesContext(connection) as captured:
            page_of(client, session, rest, partial=partial)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 12


def test_thousands_of_sessions_cost_no_more_queries(client: Client, project: Project) -> None:
    root = make_session(project)
    make_child(root)
    counts = []
    for size in (10, 2000):
        copy_children(root, size)
        with CaptureQueriesContext(connection) as captured:
            page_of(client, root)
            get(client, project, "explorer/")
            get(client, project, f"tree/{root.public_id}/", partial=True)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def copy_children(root: Session, count: int) -> None:
    """Many children at once, past the actions."""
    edge = SubSession.objects.select_related("child").filter(parent=root).first()
    assert edge
    first = Session.objects.order_by("-pk").values_list("pk", flat=True)[0] + 1000
    children = [Session(**{**plain(edge.child), "pk": first + step}) for step in range(count)]
    for child in children:
        child.public_id, child.path = f"ses_copy{child.pk}", f"ffff{child.pk}"
    Session.objects.bulk_create(children)
    edges = [SubSession(**{**plain(edge), "pk": None, "child_id": child.pk}) for child in children]
    for copy in edges:
        copy.public_id = f"sub_copy{copy.child_id}"
    SubSession.objects.bulk_create(edges)


def plain(row: Session | SubSession) -> dict[str, object]:
    made = {"owner_kind", "owner_ref"}
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if field.name not in made}


@pytest.mark.parametrize(
    "place",
    [
        "explorer/?after=nonsense",
        "explorer/?after=%00",
        "explorer/?project=prj_none",
        "explorer/?project=%00",
        "sessions/ses_none/",
        "sessions/ses_none/children/",
        "tree/ses_none/",
        "sessions/{id}/children/?after=x",
        "sessions/{id}/children/?after={cursor}",
        "tree/{id}/?after={cursor}",
        "tree/{id}/?after=",
        "sessions/a%00b/",
        "sessions/{id}%ff/",
    ],
)
def test_what_is_not_there_is_not_found(client: Client, project: Project, place: str) -> None:
    session = make_session(project)
    foreign = encode_cursor("text", "text")
    get(client, project, place.format(id=session.public_id, cursor=foreign), 404, partial=True)
    if not place.startswith("tree/"):
        get(client, project, place.format(id=session.public_id, cursor=foreign), 404)


@pytest.mark.parametrize(
    "place", ["sessions/{id}/", "sessions/{id}/children/", "tree/{id}/", "explorer/?project={prj}"]
)
def test_what_is_another_tenants_is_not_there(client: Client, project: Project, place: str) -> None:
    theirs = make_session()
    place = place.format(id=theirs.public_id, prj=theirs.project.public_id)
    get(client, project, place, 404, partial=True)
    get(client, theirs.project, place, 404, partial=True)
    assert theirs.public_id not in get(client, project, "explorer/")


def test_a_stranger_has_to_sign_in(project: Project) -> None:
    session = make_session(project)
    response = Client().get(f"/t/{project.tenant.public_id}/sessions/{session.public_id}/")
    assert response.status_code == 302
    assert "/sign-in/" in response.headers["Location"]


def test_a_tenant_without_sessions_says_what_to_do() -> None:
    tenant = make_tenant()
    client = signed_in(make_user(tenant))
    assert "No sessions yet" in client.get(f"/t/{tenant.public_id}/explorer/").content.decode()
