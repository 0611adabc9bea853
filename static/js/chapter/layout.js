// What is far away is laid out as well, a piece at a time, once the page is there.

import { root } from "./memory.js";

const STILL_MS = 2000; // while it moves, the reader has the browser to themselves
const whenIdle = globalThis.requestIdleCallback
  ? (work) => requestIdleCallback(work, { timeout: 300 }) // on a busy machine nothing is ever idle
  : (work) => setTimeout(work, 50);

/** Give what the style leaves until it comes near its true height, so that no later scroll or click moves it. */
export function layOutWhileIdle() {
  // Each part comes before what is long in it, so a piece is never more than one formula or question.
  const left = [...root.querySelectorAll(".part, .part .formula, .part .question")];
  let scrolled = 0;
  // What the reader sees first, and where: kept there by us, whatever changes above. Some browsers keep nothing
  // in place, and Chromium loses its hold on what is itself laid out in the same frame as something above.
  let place = null;
  const moved = () => place.element.getBoundingClientRect().top - place.top;
  const followReader = () => {
    if (place && (scrollY === place.scrollY || Math.abs(moved()) < 1)) return; // by us, or by the browser for us
    scrolled = performance.now();
    place = null;
  };
  const next = () => {
    if (place) followReader();
    if (performance.now() - scrolled < STILL_MS) return void setTimeout(next, STILL_MS);
    if (!place?.element.checkVisibility()) {
      place = placeOfReader();
      return void requestAnimationFrame(() => whenIdle(next)); // it may not be painted there yet
    }
    const element = left.shift();
    if (!element) {
      root.dataset.laidOut = "";
      return;
    }
    element.style.contentVisibility = "visible";
    if (Math.abs(moved()) >= 1) scrollBy({ top: moved(), behavior: "instant" });
    place.scrollY = scrollY;
    whenIdle(next);
  };
  addEventListener("scroll", followReader, { passive: true });
  setTimeout(next, STILL_MS);
}

function placeOfReader() {
  const element = firstInSight([root, document.querySelector(".site-foot")]) ?? root;
  return { element, top: element.getBoundingClientRect().top, scrollY };
}

/** Of `elements` and what is in them, the smallest that the reader sees first. */
function firstInSight(elements) {
  const first = [...elements].find((one) => one.checkVisibility() && one.getBoundingClientRect().bottom > 0);
  if (!first || first.getBoundingClientRect().top >= 0) return first;
  return firstInSight(first.children) ?? first;
}
