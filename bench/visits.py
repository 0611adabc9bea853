"""What a first visit of each page costs a browser: bytes, requests, the largest paint, shifts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from conftest import CHROMIUM, CHROMIUM_ARGUMENTS
from tests.e2e.budgets import PAGES, Budget, Site, prepared_site
from tests.e2e.measured import CPU_THROTTLE, visit
from tests.platform.instance import Instance


def measure(folder: Path) -> dict[str, Any]:
    """Visit each page that has a budget, cold and scrolled to its end, as the tests do."""
    instance = Instance(folder / "data")
    try:
        instance.start().wait_until_ready()
        instance.wait_until_graders_work()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS, headless=True
            )
            site = prepared_site(instance.base_url, browser)
            rows = {name: _row(browser, site, budget) for name, budget in PAGES.items()}
            browser.close()
    finally:
        instance.end()
    return {
        "unit": "kB over the wire with headers; ms",
        "browser": f"chromium, 1280 x 800, processor slowed {CPU_THROTTLE} times, no slow network",
        "rows": rows,
    }


def _row(browser: Browser, site: Site, budget: Budget) -> dict[str, Any]:
    found = visit(
        browser, site.base_url, site.path(budget), site.state if budget.signed_in else None
    )
    return {
        "kilobytes": round(found.sent_bytes / 1000, 1),
        "budget_kilobytes": budget.kilobytes,
        "requests": len(found.requests),
        "budget_requests": budget.requests,
        "largest_contentful_paint_ms": round(found.paint_ms),
        "cumulative_layout_shift": round(found.shift, 4),
        "complaints": found.complaints,
    }
