"""What a page costs a browser and what a browser complains of: bytes, requests, shifts, times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

# What Lighthouse takes for a phone of the middle class.
CPU_THROTTLE = 4
OBSERVER = """
window.measured = {shift: 0, paint: 0, reports: []};
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) {
    if (!entry.hadRecentInput) window.measured.shift += entry.value;
  }
}).observe({type: 'layout-shift', buffered: true});
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.measured.paint = entry.startTime;
}).observe({type: 'largest-contentful-paint', buffered: true});
document.addEventListener('securitypolicyviolation', event => {
  window.measured.reports.push(event.violatedDirective + ' ' + event.blockedURI);
});
"""


@dataclass(slots=True)
class Visit:
    """One page, loaded with nothing kept from before.

    `sent_bytes` is what came over the wire, headers included; `shift` the sum of layout shifts
    (CLS); `paint_ms` when the largest piece stood there (LCP).
    """

    sent_bytes: int = 0
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    shift: float = 0.0
    paint_ms: float = 0.0


def visit(
    browser: Browser,
    base_url: str,
    path: str,
    state: Any = None,
    width: int = 1280,
    scrolled: bool = True,
) -> Visit:
    """Load `path` cold, on a processor slowed four times, and scroll it to its end.

    `state` is a signed-in context's.
    """
    context = browser.new_context(
        base_url=base_url, storage_state=state, viewport={"width": width, "height": 800}
    )
    try:
        return _visit(context, path, scrolled)
    finally:
        context.close()


def _visit(context: BrowserContext, path: str, scrolled: bool) -> Visit:
    found = Visit()
    page = context.new_page()
    page.add_init_script(OBSERVER)
    page.on("console", lambda m: found.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Emulation.setCPUThrottlingRate", {"rate": CPU_THROTTLE})

    def requested(event: dict[str, Any]) -> None:
        if not event["request"]["url"].startswith("data:"):
            found.requests.append(event["request"]["url"])

    def loaded(event: dict[str, Any]) -> None:
        found.sent_bytes += int(event["encodedDataLength"])

    session.on("Network.requestWillBeSent", requested)
    session.on("Network.loadingFinished", loaded)
    page.goto(path, wait_until="networkidle")
    # Reported when the browser finds the time; after a scroll it is not measured any more.
    page.evaluate(
        """async () => {
          while (!window.measured.paint) await new Promise(done => setTimeout(done, 50));
        }"""
    )
    if scrolled:
        scroll_through(page)
    measured = page.evaluate("window.measured")
    found.shift, found.paint_ms = measured["shift"], measured["paint"]
    found.complaints += measured["reports"]
    return found


def scroll_through(page: Page) -> None:
    """Bring every part of the page into view once: fonts, figures and editors load when near."""
    page.evaluate(
        """async () => {
          const step = innerHeight;
          for (let top = 0; top < document.documentElement.scrollHeight; top += step) {
            scrollTo({top, behavior: 'instant'});
            await new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)));
          }
        }"""
    )
    # Not the state "networkidle": it does not come again for what begins after it has been reached.
    page.evaluate(
        """async () => {
          let before = -1;
          for (;;) {
            await document.fonts.ready;
            const loaded = performance.getEntriesByType('resource').length;
            if (loaded === before) return;
            before = loaded;
            await new Promise(done => setTimeout(done, 300));
          }
        }"""
    )
