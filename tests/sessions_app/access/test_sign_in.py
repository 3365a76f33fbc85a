"""Signing in and out."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import PASSWORD, make_tenant, make_user, signed_in

pytestmark = pytest.mark.django_db
SIGN_IN = "/sign-in/"


def _sign_in(client: Client, **fields: str) -> Any:
    return client.post(SIGN_IN, {"password": PASSWORD, **fields})


def test_a_person_signs_in_whatever_the_case_of_the_name(client: Client) -> None:
    make_user(username="Mira.Stein")
    response = _sign_in(client, username="mira.stein")
    assert (response.status_code, response["Location"]) == (302, "/")
    assert client.get("/").status_code == 200


def test_a_person_comes_to_the_page_that_was_asked_for(client: Client) -> None:
    tenant = make_tenant()
    make_user(tenant, username="mira")
    there = reverse("session_list", args=[tenant.public_id]) + "?status=failed"
    door = client.get(there)
    assert door["Location"].startswith(SIGN_IN + "?next=")
    assert client.get(door["Location"]).context["next"] == there
    assert _sign_in(client, username="mira", next=there)["Location"] == there


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "/a\r\nSet-Cookie: b=c",
        "/\0",
    ],
)
def test_no_wish_leads_off_this_host(client: Client, elsewhere: str) -> None:
    make_user(username="mira")
    assert _sign_in(client, username="mira", next=elsewhere)["Location"] == "/"
    assert client.get(SIGN_IN, {"next": elsewhere})["Location"] == "/"


@pytest.mark.parametrize("name", ["nobody", "mira", "gone"])
def test_a_failure_does_not_tell_which_names_exist(client: Client, name: str) -> None:
    make_user(username="mira")
    gone = make_user(username="gone")
    type(gone).objects.filter(pk=gone.pk).update(is_active=False)
    password = PASSWORD if name == "gone" else "wrong"
    response = client.post(SIGN_IN, {"username": name, "password": password})
    assert response.status_code == 422
    assert response.context["form"].errors == {"password": ["This user name and password do not fit together."]}
    assert 'aria-describedby="id_password_error"' in response.content.decode()


def test_what_was_left_out_is_asked_for_where_it_is_missing(client: Client) -> None:
    text = client.post(SIGN_IN, {"username": "", "password": ""}).content.decode()
    assert "Enter your user name." in text
    assert "Enter your password." in text
    assert re.search(r'name="username"[^>]* autofocus', text)
    assert text.count("autofocus") == 1


@pytest.mark.parametrize("name", ["", "\0", "a\0b", "x" * 10_000, "\ud83d\ude00", "' OR 1=1 --"])
def test_strange_names_are_refused_kindly(client: Client, name: str) -> None:
    name = name.encode("utf-16", "surrogatepass").decode("utf-16")
    assert _sign_in(client, username=name).status_code == 422


def test_signing_out_ends_the_session_and_wants_a_post(client: Client) -> None:
    client = signed_in(make_user())
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/").status_code == 200
    assert client.post("/sign-out/")["Location"] == SIGN_IN
    assert client.get("/").status_code == 302


def test_a_form_without_its_token_says_so(db: None) -> None:
    make_user(username="mira")
    response = _sign_in(Client(enforce_csrf_checks=True), username="mira")
    assert response.status_code == 403
    assert "The form has expired" in response.content.decode()
