// Where the reader is: "On this page", and a place to come back to.

import { read, root, write } from "./memory.js";

const LINE = 0.25; // of the window's height: what crosses it is being read

/** The parts, and in the one at `line` what has an address of its own: those that begin above it, in order. */
function passedPlaces(line) {
  const isAbove = (element) => element.getBoundingClientRect().top <= line;
  const parts = [...root.querySelectorAll(".part")].filter(isAbove);
  // Not all of a long chapter is measured at each movement: only the part that is being read.
  const inner = parts.at(-1)?.querySelectorAll("[data-place], .heading > [id], .question") ?? [];
  const places = [...inner].filter((element) => addressOf(element) && !element.closest("[hidden]") && isAbove(element));
  return [...parts, ...places];
}

function addressOf(element) {
  return element.id.replace(/^title-/, "part-");
}

function nameOf(element) {
  if (element.dataset.place) return element.dataset.place;
  const heading = element.matches(".part, .question") ? element.querySelector("h2, h3") : element;
  const said = heading.cloneNode(true);
  for (const part of said.querySelectorAll(".katex-html, annotation")) part.remove();
  return said.textContent.trim();
}

export function watchPlaces() {
  const navigation = [...document.querySelectorAll("[data-toc] a")];
  let current = null;
  let waiting = false;

  const look = () => {
    waiting = false;
    const passed = passedPlaces(innerHeight * LINE);
    const here = passed.at(-1) ?? null;
    if (here === current) return;
    current = here;
    mark(navigation, new Set(passed.map(addressOf)), here);
    // The top of the page is no place to come back to.
    write("place", here ? `${addressOf(here)}\n${nameOf(here)}` : "");
  };
  const soon = () => {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon, { passive: true });
  soon();
}

/** Mark the last link whose place has been passed, and keep it in sight. */
function mark(links, passed, here) {
  const at = links.findLast((link) => here && passed.has(link.hash.slice(1)));
  for (const link of links) {
    const isHere = link === at;
    if (isHere) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const list = document.querySelector("[data-toc]");
  if (!at) list?.scrollTo(0, 0);
  else if (list.scrollHeight > list.clientHeight) {
    list.scrollTop += at.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
  }
}

// --- offer to go back to where the reader was
export function offerResume() {
  const [id, title] = (read("place") ?? "").split("\n");
  const place = id && document.getElementById(id);
  const first = root.querySelector(".part");
  if (!place || !title || location.hash || scrollY > 0 || place === first) return;
  const bar = document.createElement("aside");
  bar.className = "resume";
  bar.setAttribute("aria-label", "Where you were");
  const link = document.createElement("a");
  link.href = `#${id}`;
  link.textContent = `Go on where you were: ${title}`;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "tool";
  close.textContent = "Dismiss";
  bar.append(link, close);
  const remove = () => bar.remove();
  link.addEventListener("click", remove);
  close.addEventListener("click", remove);
  addEventListener("scroll", () => scrollY > innerHeight && remove(), { passive: true });
  // Early in the page, so that the keyboard comes to it soon.
  document.querySelector(".site-head").after(bar);
}
