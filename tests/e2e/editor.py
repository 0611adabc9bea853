"""The exercise's editor as a learner meets it: the same by its name, whatever stands behind it."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect


def editor(page: Page) -> Locator:
    """Return the field that takes the source: CodeMirror's, or the text area without it."""
    return page.get_by_role("textbox", name=re.compile("^Source, one Python file"))


def rich_editor(page: Page) -> Locator:
    """Bring the editor near, and return CodeMirror's field once it is there."""
    page.locator("#your-code").scroll_into_view_if_needed()
    field = page.locator(".cm-content")
    expect(field).to_be_visible()
    return field
