// Made from static/js/site.js and static/js/chapter/ by python -m courses.scripts; change those.
const site = (() => {
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
}
},
};
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
if (anchor && !event.ctrlKey && !event.metaKey && !event.shiftKey) copyAddress(anchor);
});
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
if (isCommand && event.defaultPrevented) return;
event.preventDefault();
openSearch();
});
}
for (const button of document.querySelectorAll("[data-resume]")) {
const [place, title] = (memory.get(`chapter:${button.dataset.resume}:place`) ?? "").split("\n");
if (!place || !title) continue;
button.setAttribute("href", `${button.getAttribute("href").split("#")[0]}#${place}`);
const note = button.parentElement.querySelector("[data-resume-note]");
if (note) note.textContent = `You were at: ${title}`;
}
function tune(boxes) {
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
const isLaidOut = (box) => box.checkVisibility?.({ contentVisibilityAuto: true }) ?? true;
document.fonts?.addEventListener("loadingdone", () =>
tune([...document.querySelectorAll(".math-display")].filter(isLaidOut)),
);
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
})();
const memory = (() => {
const root = document.querySelector("[data-chapter]");
const key = (name) => `chapter:${root.dataset.chapter}:${name}`;
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
}
}
return { root, read, write };
})();
const layout = (() => {
const { root } = memory;
const STILL_MS = 2000; // while it moves, the reader has the browser to themselves
const whenIdle = globalThis.requestIdleCallback
? (work) => requestIdleCallback(work, { timeout: 300 }) // on a busy machine nothing is ever idle
: (work) => setTimeout(work, 50);
function layOutWhileIdle() {
const left = [...root.querySelectorAll(".part, .part .formula, .part .question")];
let scrolled = 0;
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
function firstInSight(elements) {
const first = [...elements].find((one) => one.checkVisibility() && one.getBoundingClientRect().bottom > 0);
if (!first || first.getBoundingClientRect().top >= 0) return first;
return firstInSight(first.children) ?? first;
}
return { layOutWhileIdle };
})();
const links = (() => {
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
const light = () => {
const lit = new Set();
for (const [element, parts] of joined) {
if (element.matches(":hover, :focus-within")) for (const part of parts) lit.add(part);
}
for (const element of joined.keys()) element.classList.toggle("lit", lit.has(element));
};
for (const element of joined.keys()) {
for (const name of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
element.addEventListener(name, () => requestAnimationFrame(light));
}
}
}
return { lightTogether };
})();
const order = (() => {
const EDGE = 64; // pixels: dragged nearer than this to the window's edge, the page scrolls along
function prepareOrders(root) {
for (const list of root.querySelectorAll("[data-order]")) {
const question = list.closest("[data-question]");
const open = !question.classList.contains("is-right");
for (const part of question.querySelectorAll("[data-without-script]")) part.hidden = true;
for (const part of question.querySelectorAll("[data-with-script]")) {
part.hidden = !open && !part.matches("[data-order-number]");
}
const items = [...list.children];
const placed = items.map((item) => Number(item.querySelector("select").value));
if (new Set(placed).size === items.length) {
list.append(...items.sort((one, other) => placeOf(one) - placeOf(other)));
}
number(list);
}
}
const placeOf = (item) => Number(item.querySelector("select").value);
function number(list) {
[...list.children].forEach((item, place) => {
item.querySelector("select").value = String(place + 1);
item.querySelector("[data-order-number]").textContent = String(place + 1);
const [up, down] = item.querySelectorAll("[data-move]");
up.setAttribute("aria-disabled", String(place === 0));
down.setAttribute("aria-disabled", String(place === list.children.length - 1));
});
}
function moved(item) {
const list = item.parentElement;
number(list);
for (const one of list.children) {
one.classList.remove("is-good", "is-bad");
for (const stale of one.querySelectorAll(".part-mark, .feedback")) stale.remove();
}
const said = item.closest("[data-question]").querySelector("[role=status]");
const place = [...list.children].indexOf(item) + 1;
said.className = "answer-state";
said.textContent = `Moved to place ${place} of ${list.children.length}.`;
}
document.addEventListener("click", (event) => {
const button = event.target.closest("[data-move]");
if (!button) return;
const item = button.closest("[data-order-item]");
const neighbour = button.dataset.move === "1" ? item.nextElementSibling : item.previousElementSibling;
if (!neighbour) return;
if (button.dataset.move === "1") neighbour.after(item);
else neighbour.before(item);
moved(item);
button.focus({ preventScroll: true });
item.scrollIntoView({ block: "nearest" });
});
document.addEventListener("pointerdown", (event) => {
const grip = event.target.closest("[data-grip]");
if (!grip || event.button !== 0) return;
event.preventDefault();
const item = grip.closest("[data-order-item]");
const list = item.parentElement;
const before = [...list.children];
item.classList.add("is-dragged");
const follow = (move) => {
if (move.pointerId !== event.pointerId) return;
if (move.clientY < EDGE) scrollBy(0, -EDGE / 4);
if (move.clientY > innerHeight - EDGE) scrollBy(0, EDGE / 4);
const below = [...list.children].find((other) => {
const box = other.getBoundingClientRect();
return other !== item && move.clientY < box.top + box.height / 2;
});
if ((below ?? null) === item.nextElementSibling) return;
list.insertBefore(item, below ?? null);
number(list);
};
const drop = (end) => {
if (end.pointerId !== event.pointerId) return;
document.removeEventListener("pointermove", follow);
document.removeEventListener("pointerup", drop);
document.removeEventListener("pointercancel", drop);
item.classList.remove("is-dragged");
if (before.some((other, place) => other !== list.children[place])) moved(item);
};
document.addEventListener("pointermove", follow);
document.addEventListener("pointerup", drop);
document.addEventListener("pointercancel", drop);
});
return { prepareOrders };
})();
const places = (() => {
const { read, root, write } = memory;
const LINE = 0.25; // of the window's height: what crosses it is being read
function passedPlaces(line) {
const isAbove = (element) => element.getBoundingClientRect().top <= line;
const parts = [...root.querySelectorAll(".part")].filter(isAbove);
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
function watchPlaces() {
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
document.querySelector(".site-head").after(bar);
}
return { watchPlaces, offerResume };
})();
const quiz = (() => {
const { read, write } = memory;
const { prepareOrders } = order;
const typed = (question) => question.querySelector("textarea[name=value], input[type=text][name=value]");
const nameOf = (question) => `typed:${question.id}`;
function restoreTyped() {
for (const question of document.querySelectorAll("[data-question]")) {
const field = typed(question);
const text = field && read(nameOf(question));
if (!text || text === field.value || field.matches(":disabled")) continue;
field.value = text;
const said = question.querySelector("[role=status]");
said.textContent = "This answer of yours was not stored: check it again.";
said.className = "answer-state warn";
}
}
document.addEventListener("submit", async (event) => {
const question = event.target.closest("[data-question]");
if (!question || !(event.target instanceof HTMLFormElement)) return;
event.preventDefault();
const form = event.target;
const button = form.querySelector("button[type=submit]");
if (button.disabled) return;
const body = new FormData(form);
const focused = selectorOf(question.contains(document.activeElement) && document.activeElement);
const said = question.querySelector("[role=status]");
if (typed(question)) write(nameOf(question), typed(question).value);
button.disabled = true;
question.setAttribute("aria-busy", "true");
try {
const response = await fetch(form.action, {
method: "POST",
body: new URLSearchParams(body),
headers: { "X-Requested-With": "fetch" },
credentials: "same-origin",
});
const type = response.headers.get("Content-Type") ?? "";
if (!type.startsWith("text/html") || (!response.ok && response.status !== 422 && response.status !== 429))
throw response;
replace(question, await response.text(), focused);
if (response.ok) write(nameOf(question), "");
} catch (problem) {
said.textContent =
problem instanceof Response
? `The answer could not be checked (error ${problem.status}). Load the page again and retry.`
: "The site did not answer. Your answer is still here: try again in a moment.";
said.className = "answer-state bad";
button.disabled = false;
if (focused) keepFocus(question, focused);
question.removeAttribute("aria-busy");
}
});
function replace(old, html, selector) {
const parsed = new DOMParser().parseFromString(html, "text/html");
const fresh = parsed.querySelector("[data-question]");
if (!fresh) throw new TypeError("The answer of the site holds no question.");
const message = fresh.querySelector("[role=status]");
const text = message?.textContent ?? "";
if (message) {
const unseen = document.createElement("span");
unseen.style.visibility = "hidden";
unseen.textContent = text;
message.replaceChildren(unseen);
}
fresh.style.contentVisibility = "visible";
old.replaceWith(fresh);
prepareOrders(fresh);
if (message) requestAnimationFrame(() => (message.textContent = text));
if (selector) keepFocus(fresh, selector);
updateCount(Number(fresh.dataset.done), Number(fresh.dataset.total), "completed" in fresh.dataset);
}
function selectorOf(element) {
if (!element) return "";
if (!element.matches("input:not([type=text])"))
return element.name ? `[name="${element.name}"]` : "button[type=submit]";
return `[name="${CSS.escape(element.name)}"][value="${CSS.escape(element.value)}"]`;
}
function keepFocus(fresh, selector) {
let target = fresh.querySelector(selector) ?? fresh.querySelector("button[type=submit]");
if (!target || target.disabled || target.matches(":disabled")) {
target = fresh;
target.tabIndex = -1;
}
target.focus({ preventScroll: true });
}
function updateCount(done, total, completed) {
for (const count of document.querySelectorAll("[data-quiz-count]")) {
count.textContent = `${done} / ${total} done`;
}
for (const note of document.querySelectorAll("[data-quiz-complete]")) {
note.hidden = done < total;
const text = note.querySelector("span");
text.textContent = `All questions are answered.${completed ? " The chapter is completed." : ""}`;
}
}
return { restoreTyped };
})();
const steps = (() => {
const { read, root, write } = memory;
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
if (index < shown) step.removeAttribute("hidden");
else step.setAttribute("hidden", "until-found");
step.ariaHidden = index < shown ? null : "true";
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
show(steps.length);
next.focus({ preventScroll: true });
});
for (const [index, step] of steps.entries()) step.addEventListener("beforematch", () => show(index + 1));
addEventListener("hashchange", showHash);
show(shown);
controls.hidden = false;
showHash();
}
return { stepThrough };
})();
const main = (() => {
const { layOutWhileIdle } = layout;
const { lightTogether } = links;
const { prepareOrders } = order;
const { offerResume, watchPlaces } = places;
const { restoreTyped } = quiz;
const { stepThrough } = steps;
offerResume();
stepThrough();
watchPlaces();
lightTogether();
prepareOrders(document);
restoreTyped();
if (document.readyState === "complete") layOutWhileIdle();
else addEventListener("load", layOutWhileIdle);
})();
