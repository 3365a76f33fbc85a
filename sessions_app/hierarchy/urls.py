"""Pages of a tenant: `/t/<tenantId>/…`."""

from django.urls import path

from sessions_app.hierarchy import views

urlpatterns = [
    path("t/<public_id:tenant_id>/", views.tenant_home, name="tenant_home"),
    path("t/<public_id:tenant_id>/projects/", views.project_list, name="project_list"),
    path("t/<public_id:tenant_id>/projects/<public_id:project_id>/", views.project_detail, name="project_detail"),
    path("t/<public_id:tenant_id>/sessions/", views.session_list, name="session_list"),
]
