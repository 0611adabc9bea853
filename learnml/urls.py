"""The site's addresses: each app brings its own; health answers before any of them."""

from __future__ import annotations

from importlib.util import find_spec

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

# One login for all, with its rate limits and password rules.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
]
for _prefix, _urls in (("api/v1/", "grader.api.urls"), ("", "courses.urls"), ("", "grader.urls")):
    if find_spec(_urls) is not None:
        urlpatterns.append(path(_prefix, include(_urls)))

handler400 = "learnml.errors.bad_request"
handler403 = "learnml.errors.permission_denied"
handler404 = "learnml.errors.page_not_found"
handler500 = "learnml.errors.server_error"
