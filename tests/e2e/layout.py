"""What of a page is cut off, as a script that a page evaluates."""

from __future__ import annotations

# All that is folded or left out while it is far is shown first.
SHOW_ALL = """() => {
  document.querySelector("[data-steps-all]")?.click();
  for (const one of document.querySelectorAll("details")) one.open = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(".part, .formula, .question { content-visibility: visible !important; }");
  document.adoptedStyleSheets = [sheet];
  return document.fonts.ready.then(() => true);
}"""

# Of what is seen: all that reaches out of the window or of a box that cuts it off, and every box
# that scrolls sideways and does not show it, or that no key can reach.
CUT = r"""() => {
  const found = new Set();
  const name = (e) => `<${e.localName} id="${e.id}" class="${e.getAttribute("class") ?? ""}">`;
  const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) found.add(`the page scrolls to ${page.scrollWidth}`);
  for (const e of document.body.querySelectorAll("*")) {
    if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (e.closest(".sr-only, .katex-mathml, .skip, .search-link span, svg, .cm-editor")) continue;
    const box = e.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(e);
    const isWider = e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0;
    let around = e.parentElement;
    while (around && !scrolls(around)) around = around.parentElement;
    if (!around && (box.right > innerWidth + 1 || box.left < -1))
      found.add(`out of the page: ${name(e)}`);
    if (/hidden|clip/.test(style.overflowX) && isWider && !e.matches("input, select, progress"))
      found.add(`cut off: ${name(e)}`);
    if (scrolls(e) && isWider && !e.matches("textarea")) {
      const hasShadow = style.backgroundImage.includes("gradient");
      if (!hasShadow || style.getPropertyValue("--after") === "0px")
        found.add(`does not show that it goes on: ${name(e)}`);
      if (e.tabIndex !== 0) found.add(`no key reaches it: ${name(e)}`);
    }
  }
  return [...found];
}"""
