"""Mounted at the root: the explorer and the pages of a session."""

from django.urls import URLPattern, URLResolver, include, path

from namzu_site.explorer import views

session: list[URLPattern | URLResolver] = [
    path("", views.session_detail, name="session_detail"),
    path("children/", views.session_children, name="session_children"),
    path("", include("stores_app.session.urls")),
]

urlpatterns = [
    path("t/<public_id:tenant_id>/explorer/", views.explorer, name="explorer"),
    path("t/<public_id:tenant_id>/tree/<public_id:session_id>/", views.tree_children, name="tree_children"),
    path("t/<public_id:tenant_id>/sessions/<public_id:session_id>/", include(session)),
]
