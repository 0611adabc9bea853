// The chapter page's comforts. Without this file everything is readable: all steps are shown.

const root = document.querySelector("[data-chapter]");
const memory = `chapter:${root.dataset.chapter}`;

/** localStorage, or nothing where the browser forbids it. */
const store = {
  get(name) {
    try {
      return localStorage.getItem(`${memory}:${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`${memory}:${name}`, value);
    } catch {
      // Private mode or a full store: the page works, it only forgets.
    }
  },
};

// --- "On this page": mark the section being read -----------------------------------------------
function watchSections() {
  const links = new Map();
  for (const link of document.querySelectorAll("[data-toc] a")) {
    links.set(link.hash.slice(1), link);
  }
  const mark = (id) => {
    for (const [key, link] of links) {
      if (key === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    store.set("place", id);
  };
  // A section is current while it crosses a line a quarter down the window.
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) mark(entry.target.id);
    },
    { rootMargin: "-25% 0px -74% 0px" },
  );
  for (const id of links.keys()) {
    const section = document.getElementById(id);
    if (section) observer.observe(section);
  }
}

// --- offer to go back to where the reader was ----------------------------------------------------
function offerResume() {
  const place = store.get("place");
  const section = place && document.getElementById(place);
  const first = document.querySelector("[data-toc] a");
  if (!section || location.hash || scrollY > 0 || !first || first.hash === `#${place}`) return;
  const title = document.querySelector(`[data-toc] a[href="#${CSS.escape(place)}"]`)?.textContent;
  const bar = document.createElement("aside");
  bar.className = "resume";
  bar.setAttribute("aria-label", "Where you were");
  const link = document.createElement("a");
  link.href = `#${place}`;
  link.textContent = `Go back to ${title}`;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "tool";
  close.textContent = "Dismiss";
  bar.append(link, close);
  const remove = () => bar.remove();
  link.addEventListener("click", remove);
  close.addEventListener("click", remove);
  addEventListener("scroll", () => scrollY > innerHeight && remove(), { passive: true });
  document.body.append(bar);
}

// --- derivation: one step at a time -----------------------------------------------------------------
function stepThrough() {
  const list = document.querySelector("[data-steps]");
  const controls = document.querySelector("[data-steps-controls]");
  if (!list || list.children.length < 2) return;
  const steps = [...list.children];
  const [next, all, count] = ["next", "all", "count"].map((name) =>
    controls.querySelector(`[data-steps-${name}]`),
  );
  let shown = Math.min(Number(store.get("steps")) || 1, steps.length);

  const show = (number) => {
    shown = Math.max(1, Math.min(number, steps.length));
    steps.forEach((step, index) => {
      // Found by the browser's own search, which then opens it.
      if (index < shown) step.removeAttribute("hidden");
      else step.setAttribute("hidden", "until-found");
    });
    const done = shown === steps.length;
    next.textContent = done ? "Start over" : "Show the next step";
    all.hidden = done;
    count.textContent = `Step ${shown} of ${steps.length}`;
    store.set("steps", shown);
  };
  const showHash = () => {
    const index = steps.findIndex((step) => `#${step.id}` === location.hash);
    if (index < 0) return;
    if (index >= shown) show(index + 1);
    steps[index].scrollIntoView();
  };

  next.addEventListener("click", () => show(shown === steps.length ? 1 : shown + 1));
  all.addEventListener("click", () => show(steps.length));
  steps.forEach((step, index) => step.addEventListener("beforematch", () => show(index + 1)));
  addEventListener("hashchange", showHash);
  show(shown);
  controls.hidden = false;
  showHash();
}

// --- copy buttons ----------------------------------------------------------------------------------
function enableCopy() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (!button) return;
    const source = button.dataset.copyFrom;
    const text = source ? document.getElementById(source).querySelector("pre").textContent : button.dataset.copy;
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      button.classList.add("is-done");
    } catch {
      button.textContent = "Copying is blocked";
    }
    setTimeout(() => {
      button.textContent = label;
      button.classList.remove("is-done");
    }, 1600);
  });
}

// --- a step, its formula and its line of code light up together ----------------------------------------
function linkParts() {
  for (const step of document.querySelectorAll("[data-links]")) {
    const parts = step.dataset.links.trim().split(/\s+/).map((id) => document.getElementById(id));
    const light = (on) => {
      for (const part of [step, ...parts]) part?.classList.toggle("lit", on);
    };
    for (const part of [step, ...parts]) {
      if (!part) continue;
      part.addEventListener("pointerenter", () => light(true));
      part.addEventListener("pointerleave", () => light(false));
      part.addEventListener("focusin", () => light(true));
      part.addEventListener("focusout", () => light(false));
    }
  }
}

// --- boxes that scroll sideways can be reached by keyboard, others are not in the way ---------------------
function tuneScrollBoxes() {
  for (const box of document.querySelectorAll(".math-display, .scroll, .table-scroll, pre")) {
    if (box.scrollWidth <= box.clientWidth) box.removeAttribute("tabindex");
  }
}

offerResume();
watchSections();
stepThrough();
enableCopy();
linkParts();
tuneScrollBoxes();
