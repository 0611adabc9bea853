"""The site's URLs: each app brings its own; health comes before all of them."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

# One login for all, with its rate limits and password rules.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("api/v1/", include("grader.api.urls")),
    path("", include("courses.urls")),
    path("", include("grader.urls")),
]

handler400 = "learnml.errors.bad_request"
handler403 = "learnml.errors.permission_denied"
handler404 = "learnml.errors.page_not_found"
handler429 = "learnml.errors.too_many_requests"  # which allauth asks for
handler500 = "learnml.errors.server_error"
