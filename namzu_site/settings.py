"""All settings, read once from the environment. docs/operating.md lists the variables."""

from pathlib import Path
from typing import Any

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF

from namzu_site import env

django_stubs_ext.monkeypatch()  # generic Django classes can be subscripted at run time

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.folder("NAMZU_DATA_DIR", BASE_DIR / "data")

DEBUG = env.flag("NAMZU_DEBUG")
SECRET_KEY = env.secret("NAMZU_SECRET_KEY", DATA_DIR / "secret_key")
HTTPS = env.flag("NAMZU_HTTPS")
# The machine itself always gets an answer. That is safe: the check is against pages of others that make a browser call
# us under a name of theirs, and these names nobody else can have.
ALLOWED_HOSTS = [*env.hosts("NAMZU_ALLOWED_HOSTS"), "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.origins("NAMZU_TRUSTED_ORIGINS")
MAX_BODY_BYTES = env.integer("NAMZU_MAX_BODY_BYTES", 16 * 1024 * 1024, least=1024, most=2**31 - 1)
WEB_WORKERS = env.integer("NAMZU_WEB_WORKERS", 2, least=1, most=64)
WEB_THREADS = env.integer("NAMZU_WEB_THREADS", 4, least=1, most=256)
LEGACY_IDS = env.choice("NAMZU_LEGACY_IDS", "accept", ("accept", "reject"))
LOG_LEVEL = env.choice("NAMZU_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "django_q",
    "ninja",
    "sessions_app",
    "stores_app",
    "retention_app",
    "namzu_site",
]

MIDDLEWARE = [
    "namzu_site.middleware.ApiFirst",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "namzu_site.urls"
WSGI_APPLICATION = "namzu_site.wsgi.application"
ASGI_APPLICATION = "namzu_site.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "namzu_site.shell.shell",
            ],
        },
    },
]

# Embedded or not, the server is always handed over as DATABASE_URL: `manage.py` and `up` set it, nothing starts here.
_DATABASE = env.database("DATABASE_URL") or {"dbname": "namzu"}
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _DATABASE.pop("dbname"),
        "USER": _DATABASE.pop("user", ""),
        "PASSWORD": _DATABASE.pop("password", ""),
        "HOST": _DATABASE.pop("host", ""),
        "PORT": _DATABASE.pop("port", ""),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            **_DATABASE,  # sslmode, connect_timeout …
            # Django turns prepared statements off unless a threshold is set; with values bound on the server, one plan
            # serves them all.
            "prepare_threshold": 5,
            "server_side_binding": True,
        },
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "sessions_app.User"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# One worker is enough for short jobs; `retry` stays above the longest one, or a running job would be delivered again.
Q_CLUSTER: dict[str, Any] = {
    "name": "namzu",
    "orm": "default",
    "workers": env.integer("NAMZU_WORKERS", 1, least=1, most=64),
    "timeout": 300,
    "retry": 600,
    "max_attempts": 5,
    "bulk": 1,
    "queue_limit": 4,
    "catch_up": False,
    "save_limit": 250,
    "label": "Background work",
}

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [NONCE, SELF],
        "style-src": [NONCE, SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "namzu_session"
CSRF_COOKIE_NAME = "namzu_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 31_536_000

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
LANGUAGE_CODE = "en"

DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django.request": {"level": "ERROR"},  # what a caller did wrong is the caller's to know
        # The worker tells of every job, and the sign of life is one each minute: for those who look for a fault.
        "django-q": {"level": LOG_LEVEL if LOG_LEVEL in ("DEBUG", "ERROR") else "WARNING"},
    },
}
