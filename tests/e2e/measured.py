"""What a page costs a browser and what a browser complains of: bytes, requests, shifts, times."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

# What Lighthouse takes for a phone of the middle class.
CPU_THROTTLE = 4
SHARE_SECONDS = 0.1
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
    (CLS); `paint_ms` when the largest piece stood there (LCP). `share` is how much of a core there
    was for a process that wanted one, before and after: less than 1 on a busy machine.
    """

    sent_bytes: int = 0
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    shift: float = 0.0
    paint_ms: float = 0.0
    share: float = 1.0

    @property
    def own_paint_ms(self) -> float:
        """The paint without the time in which other programs had the core."""
        return self.paint_ms * self.share


def visit(
    browser: Browser,
    base_url: str,
    path: str,
    state: Any = None,
    width: int = 1280,
    scrolled: bool = True,
    slow_to_the_end: bool = False,
) -> Visit:
    """Load `path` cold, on a processor slowed four times, and scroll it to its end.

    `state` is a signed-in context's. Once the page is loaded and painted the processor is as fast
    as it is, unless `slow_to_the_end`: the browser slows it by keeping it busy.
    """
    context = browser.new_context(
        base_url=base_url, storage_state=state, viewport={"width": width, "height": 800}
    )
    try:
        before = share_of_a_core()
        found = _visit(context, path, scrolled, slow_to_the_end)
        found.share = (before + share_of_a_core()) / 2
        return found
    finally:
        context.close()


def share_of_a_core() -> float:
    """Compute for a moment; return which part of that time this process had a core."""
    started, begun = time.perf_counter(), time.thread_time()
    while (took := time.perf_counter() - started) < SHARE_SECONDS:
        pass
    return min(1.0, (time.thread_time() - begun) / took)


def _visit(context: BrowserContext, path: str, scrolled: bool, slow_to_the_end: bool) -> Visit:
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
    if not slow_to_the_end:
        session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
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
