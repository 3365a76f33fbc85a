"""Where everything is mounted."""

from django.urls import URLPattern, URLResolver, include, path

from namzu_site.api import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("namzu_site.overview.urls")),
    path("", include("sessions_app.access.urls")),
    path("", include("sessions_app.hierarchy.urls")),
    path("", include("namzu_site.explorer.urls")),
    path("api/v1/", api.urls),
]

handler400 = "namzu_site.error_pages.bad_request"
handler403 = "namzu_site.error_pages.forbidden"
handler404 = "namzu_site.error_pages.not_found"
handler500 = "namzu_site.error_pages.server_error"
