// The chapter page's comforts. Without this file everything is readable: all steps are shown.

const root = document.querySelector("[data-chapter]");
const key = (name) => `chapter:${root.dataset.chapter}:${name}`;

/** localStorage, or nothing where the browser forbids it: the page works, it only forgets. */
function read(name) {
  try {
    return localStorage.getItem(key(name));
  } catch {
    return null;
  }
}

function write(name, value) {
  try {
    localStorage.setItem(key(name), value);
  } catch {
    // Private mode, or a full store.
  }
}

// --- where the reader is: "On this page", and a place to come back to -----------------------------------
const LINE = 0.25; // of the window's height: what crosses it is being read

/** The places of the page in order: sections, and what in them has an address of its own. */
function placesOf() {
  const selector = ".part, [data-place], .part .heading > [id], .question";
  return [...root.querySelectorAll(selector)].filter((element) => addressOf(element) && !element.closest("[hidden]"));
}

function addressOf(element) {
  return element.id.replace(/^title-/, "part-");
}

function nameOf(element) {
  if (element.dataset.place) return element.dataset.place;
  const heading = element.matches(".part, .question") ? element.querySelector("h2, h3") : element;
  const said = heading.cloneNode(true);
  said.querySelectorAll(".katex-html, annotation").forEach((part) => part.remove());
  return said.textContent.trim();
}

function watchPlaces() {
  const navigation = [...document.querySelectorAll("[data-toc] a")];
  let current = null;
  let waiting = false;

  const look = () => {
    waiting = false;
    const line = innerHeight * LINE;
    const passed = placesOf().filter((element) => element.getBoundingClientRect().top <= line);
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
  const list = at?.closest("[data-toc]");
  if (list && list.scrollHeight > list.clientHeight) {
    list.scrollTop += at.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
  }
}

// --- offer to go back to where the reader was --------------------------------------------------------
function offerResume() {
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

// --- derivation: one step at a time --------------------------------------------------------------------
function stepThrough() {
  const list = root.querySelector("[data-steps]");
  const controls = root.querySelector("[data-steps-controls]");
  if (!list || list.children.length < 2) return;
  const steps = [...list.children];
  const [next, all, count] = ["next", "all", "count"].map((name) => controls.querySelector(`[data-steps-${name}]`));
  let shown = Math.min(Number(read("steps")) || 1, steps.length);

  const show = (number) => {
    shown = Math.max(1, Math.min(number, steps.length));
    steps.forEach((step, index) => {
      // Found by the browser's own search, which then opens it.
      if (index < shown) step.removeAttribute("hidden");
      else step.setAttribute("hidden", "until-found");
    });
    const done = shown === steps.length;
    next.textContent = done ? "One step at a time" : "Show the next step";
    all.hidden = done;
    count.textContent = done ? `All ${steps.length} steps` : `Step ${shown} of ${steps.length}`;
    write("steps", shown);
  };
  const showHash = () => {
    const index = steps.findIndex((step) => `#${step.id}` === location.hash);
    if (index < 0) return;
    if (index >= shown) show(index + 1);
    steps[index].scrollIntoView();
  };

  next.addEventListener("click", () => {
    if (shown < steps.length) return show(shown + 1);
    show(1);
    steps[0].scrollIntoView({ block: "nearest" });
  });
  all.addEventListener("click", () => {
    // The button goes: keep the keyboard's place beside it.
    show(steps.length);
    next.focus({ preventScroll: true });
  });
  steps.forEach((step, index) => step.addEventListener("beforematch", () => show(index + 1)));
  addEventListener("hashchange", showHash);
  show(shown);
  controls.hidden = false;
  showHash();
}

// --- a step, its formula, its line of code and its figure light up together ------------------------------
function lightTogether() {
  const joined = new Map();
  const join = (one, other) => {
    if (!joined.has(one)) joined.set(one, new Set([one]));
    joined.get(one).add(other);
  };
  for (const element of document.querySelectorAll("[data-links]")) {
    for (const id of element.dataset.links.trim().split(/\s+/)) {
      const part = document.getElementById(id);
      if (!part) continue;
      join(element, part);
      join(part, element);
    }
  }
  // Pointer and focus may be in different places: what is lit is worked out from both each time.
  const light = () => {
    const lit = new Set();
    for (const [element, parts] of joined) {
      if (element.matches(":hover, :focus-within")) parts.forEach((part) => lit.add(part));
    }
    for (const element of joined.keys()) element.classList.toggle("lit", lit.has(element));
  };
  for (const element of joined.keys()) {
    for (const name of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
      element.addEventListener(name, () => requestAnimationFrame(light));
    }
  }
}

offerResume();
stepThrough();
watchPlaces();
lightTogether();
