from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "namzu_site"
