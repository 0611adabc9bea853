// What every page has: copying, links to places, the way into the search, where a reader was.
// Nothing needs it: the search has a page, links are links, and text can be selected.

/** localStorage, or nothing where the browser forbids it: the page works, it only forgets. */
const memory = {
  get(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      if (value === null) localStorage.removeItem(name);
      else localStorage.setItem(name, value);
    } catch {
      // Private mode, or a full store.
    }
  },
};

/** Say something to those who listen to the page. */
function announce(text) {
  let region = document.querySelector("[data-announce]");
  if (!region) {
    region = document.createElement("p");
    region.className = "sr-only";
    region.setAttribute("role", "status");
    region.dataset.announce = "";
    document.body.append(region);
  }
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = text));
}

// --- copying: a formula, a listing, the address of a place ------------------------------------------
const SHOWN_MS = 1600;

async function copy(text, done, failed) {
  try {
    await navigator.clipboard.writeText(text);
    done();
  } catch {
    failed();
  }
}

function copyFrom(button) {
  const source = button.dataset.copyFrom;
  const text = source ? document.getElementById(source).querySelector("pre").textContent : button.dataset.copy;
  const word = [...button.childNodes].findLast((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  word.wrote ??= word.data;
  const label = word.wrote;
  const show = (said, isDone) => {
    word.data = said;
    button.classList.toggle("is-done", isDone);
    announce(said);
    clearTimeout(button.timer);
    button.timer = setTimeout(() => {
      word.data = label;
      button.classList.remove("is-done");
    }, SHOWN_MS);
  };
  copy(
    text,
    () => show("Copied", true),
    () => show("Copying is blocked", false),
  );
}

function copyAddress(anchor) {
  copy(
    anchor.href,
    () => {
      anchor.classList.add("is-done");
      anchor.textContent = "✓";
      announce("The link is copied.");
      setTimeout(() => {
        anchor.classList.remove("is-done");
        anchor.textContent = "#";
      }, SHOWN_MS);
    },
    () => {}, // The address bar shows it in any case.
  );
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-from]");
  if (button) copyFrom(button);
  const anchor = event.target.closest("a.anchor");
  // The link is followed as well: the address bar shows the place.
  if (anchor && !event.ctrlKey && !event.metaKey && !event.shiftKey) copyAddress(anchor);
});

// --- a script that few readers need is loaded when its link is first used, and then gets the click -------
document.addEventListener("click", async (event) => {
  const user = event.target.closest("a[data-script-on-use]");
  if (!user || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const script = user.dataset.scriptOnUse;
  user.removeAttribute("data-script-on-use");
  try {
    await import(script);
    user.click();
  } catch {
    location.assign(user.href);
  }
});

// --- search: a dialog in the place of its page --------------------------------------------------------
const link = document.querySelector("[data-search]");
const SLASH = "search:slash"; // "off" where a reader does not want a single key to open it

async function openSearch() {
  const { open } = await import(link.dataset.searchScript);
  open(link.href, {
    isOn: () => memory.get(SLASH) !== "off",
    set: (on) => memory.set(SLASH, on ? null : "off"),
  });
}

function isWriting(element) {
  return (
    element.isContentEditable ||
    element.matches("input:not([type=radio], [type=checkbox], [type=range]), textarea, select")
  );
}

if (link && "HTMLDialogElement" in window) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    openSearch();
  });
  document.addEventListener("keydown", (event) => {
    const control = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const isCommand = control && event.key.toLowerCase() === "k";
    const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isCommand && !isSlash) return;
    if (isSlash && (isWriting(event.target) || memory.get(SLASH) === "off")) return;
    // An editor has a Ctrl-K of its own.
    if (isCommand && event.defaultPrevented) return;
    event.preventDefault();
    openSearch();
  });
}

// --- where a reader was: the buttons that lead to a chapter lead back to the place -----------------------
for (const button of document.querySelectorAll("[data-resume]")) {
  const [place, title] = (memory.get(`chapter:${button.dataset.resume}:place`) ?? "").split("\n");
  if (!place || !title) continue;
  button.setAttribute("href", `${button.getAttribute("href").split("#")[0]}#${place}`);
  const note = button.parentElement.querySelector("[data-resume-note]");
  if (note) note.textContent = `You were at: ${title}`;
}

// --- boxes that scroll sideways can be reached by keyboard, others are not in the way ------------------------
function tune(boxes) {
  // All are read before one is written: a change between two readings lays the page out again.
  const wide = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
  boxes.forEach((box, place) => {
    if (wide[place]) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
}
const sizes = new ResizeObserver((entries) => tune(entries.map((entry) => entry.target)));
const SCROLL =
  ".math-display, .scroll, .table-scroll, pre, .run-line, .order-text, .match-left, .match-rights div, .math-inline.is-long";
for (const box of document.querySelectorAll(SCROLL)) sizes.observe(box);
// A font makes a formula wider in a box that stays as it is. What is far is measured when it comes near.
const isLaidOut = (box) => box.checkVisibility?.({ contentVisibilityAuto: true }) ?? true;
document.fonts?.addEventListener("loadingdone", () =>
  tune([...document.querySelectorAll(".math-display")].filter(isLaidOut)),
);

// --- moments: written in UTC, shown in the reader's own time zone, which is named --------------------------
const ENGLISH = navigator.languages?.find((language) => /^en\b/.test(language)) ?? "en-GB";
const written = new Intl.DateTimeFormat(ENGLISH, {
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
  calendar: "gregory",
  numberingSystem: "latn",
});

function showInOwnZone(root) {
  for (const time of root.querySelectorAll("time[data-to]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const part = Object.fromEntries(written.formatToParts(moment).map(({ type, value }) => [type, value]));
    const second = time.dataset.to === "second" ? `:${part.second}` : "";
    time.title ||= time.textContent;
    time.textContent = `${part.day} ${part.month} ${part.year}, ${part.hour}:${part.minute}${second} ${part.timeZoneName}`;
  }
}
showInOwnZone(document);
document.addEventListener("learnml:added", (event) => showInOwnZone(event.target));
