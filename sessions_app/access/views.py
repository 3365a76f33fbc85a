"""Signing in and out."""

from django.conf import settings
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from sessions_app.access.forms import SignInForm


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The form; after a success the page that was asked for, as long as it is on this host."""
    there = _safe_next(request)
    if request.method == "GET" and request.user.is_authenticated:
        return HttpResponseRedirect(there)
    form = SignInForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return HttpResponseRedirect(there)
    status = 422 if form.errors else 200
    return render(request, "sessions_app/access/sign_in.html", {"form": form, "next": there}, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Ends the session and leads back to the door."""
    logout(request)
    return redirect("sign_in")


def _safe_next(request: HttpRequest) -> str:
    """The page to go to; the front page where the wish leads elsewhere."""
    wish = request.POST.get("next") or request.GET.get("next") or ""
    allowed = url_has_allowed_host_and_scheme(wish, {request.get_host()}, require_https=request.is_secure())
    if allowed and wish.isprintable():  # a header cannot hold the rest
        return wish
    return resolve_url(settings.LOGIN_REDIRECT_URL)
