"""What a browser does with the admin's forms, for tests."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse


def change_url(row: Any) -> str:
    return reverse(f"admin:courses_{row._meta.model_name}_change", args=[row.pk])


def form_data(response: HttpResponse) -> dict[str, Any]:
    """Return what a browser would post from an admin form that was not touched."""
    context = response.context
    forms = [context["adminform"].form]
    data: dict[str, Any] = {}
    for inline in context["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.initial_forms]
    for form in forms:
        for bound in form:
            value = bound.value()
            if value is True:
                data[bound.html_name] = "on"
            elif value is not None and value is not False:
                # Browsers send texts with CR LF.
                data[bound.html_name] = re.sub(r"\r?\n", "\r\n", str(value))
    return data


def send(client: Client, url: str, data: dict[str, Any], **changes: Any) -> HttpResponse:
    """Post a form's data with some fields changed; None takes a field away."""
    return client.post(
        url, {name: value for name, value in (data | changes).items() if value is not None}
    )


def post(client: Client, url: str, **changes: Any) -> HttpResponse:
    """Load a form, change some fields, and send it."""
    page = client.get(url)
    assert page.status_code == 200
    return send(client, url, form_data(page), **changes)


def prefix_of(page: HttpResponse, formset: str, key: str) -> str:
    """Return the prefix of the row with this key in one of the page's inlines."""
    for inline in page.context["inline_admin_formsets"]:
        if inline.formset.prefix == formset:
            for form in inline.formset.initial_forms:
                if key in (getattr(form.instance, "key", ""), getattr(form.instance, "value", "")):
                    return str(form.prefix)
    raise KeyError(key)


def errors_at(response: HttpResponse, formset: str, prefix: str) -> dict[str, list[str]]:
    """Return the errors of one row of one of the page's inlines, by field."""
    for inline in response.context["inline_admin_formsets"]:
        if inline.formset.prefix == formset:
            for form in inline.formset.forms:
                if form.prefix == prefix:
                    return {name: list(found) for name, found in form.errors.items()}
    return {}
