// Made from static/js/chapter.js and static/js/figures/ by python -m courses.figures.bundle; change the sources.
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
{
const linear = (() => {
const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const range = (count, make) => Array.from({ length: count }, (_, place) => make(place));
function logSpace(low, high, count) {
const [start, end] = [Math.log10(low), Math.log10(high)];
return range(count, (place) => 10 ** (start + ((end - start) * place) / (count - 1)));
}
function project(columns, target) {
const basis = [];
for (const column of columns) {
let rest = column;
for (let round = 0; round < 2; round++) {
for (const unit of basis) {
const along = dot(unit, rest);
rest = rest.map((value, place) => value - along * unit[place]);
}
}
const length = Math.sqrt(dot(rest, rest));
if (length > 1e-9 * Math.sqrt(dot(column, column))) {
basis.push(rest.map((value) => value / length));
}
}
const output = target.map(() => 0);
for (const unit of basis) {
const along = dot(unit, target);
unit.forEach((value, place) => {
output[place] += along * value;
});
}
return output;
}
return { dot, mean, range, logSpace, project };
})();
const numbers = (() => {
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
function fixed(value, decimals) {
const text = Math.abs(value).toFixed(decimals);
return (value < 0 && Number(text) ? "−" : "") + text;
}
function power(exponent) {
return `10${[...String(exponent)].map((sign) => SUPERSCRIPTS[sign]).join("")}`;
}
function shown(value, digits = 4) {
if (value === 0) return "0";
const sign = value < 0 ? "−" : "";
if (!Number.isFinite(value)) return `${sign}∞`;
const [mantissa, exponent] = Math.abs(value)
.toExponential(digits - 1)
.split("e");
if (exponent >= -4 && exponent <= 5) {
return sign + fixed(Math.abs(value), Math.max(0, digits - 1 - exponent));
}
return `${sign}${mantissa}\u00a0×\u00a0${power(Number(exponent))}`;
}
function percent(share) {
return `${shown(100 * share, 3)}%`;
}
function row(values, decimals = 3) {
return `(${values.map((value) => fixed(value, decimals)).join(", ")})`;
}
return { fixed, power, shown, percent, row };
})();
const kinds_norm_geometry = (() => {
const { dot, mean, range } = linear;
const { fixed, row, shown } = numbers;
const OUTLINE_POINTS = 60;
const TILT = (22 * Math.PI) / 180;
const PLANE_SHARE = 0.8;
const SAME_PLACE = 0.05;
const LEFT_NOTHING = 1e-6;
const CENTRED = [[1, -1, 0].map((value) => value / Math.sqrt(2)), [1, 1, -2].map((value) => value / Math.sqrt(6))];
function camera(turnDegrees, size) {
if (size === 2)
return [
[1, 0],
[0, 1],
];
const turn = (turnDegrees * Math.PI) / 180;
return [
[-Math.sin(turn), Math.cos(turn), 0],
[-Math.sin(TILT) * Math.cos(turn), -Math.sin(TILT) * Math.sin(turn), Math.cos(TILT)],
];
}
function outline([right, up]) {
const first = Math.sqrt(dot(right, right));
const slant = first ? dot(right, up) / first : 0;
const second = Math.sqrt(Math.max(0, dot(up, up) - slant ** 2));
return range(OUTLINE_POINTS, (place) => {
const angle = (2 * Math.PI * place) / OUTLINE_POINTS;
return [first * Math.cos(angle), slant * Math.cos(angle) + second * Math.sin(angle)];
});
}
function centredPlaces(eye, gamma, limit) {
if (gamma.length === 2)
return {
centred: [
[-limit, limit],
[limit, -limit],
],
};
const across = (weights, length) =>
outline(eye.map((axis) => CENTRED.map((side) => length * dot(weights(axis), side))));
return {
centred: across((axis) => axis, limit * PLANE_SHARE),
equator: outline(eye.map((axis) => [0, 1].map((n) => axis[n] * gamma[n] * Math.sqrt(3)))),
circle: across((axis) => axis.map((value, place) => value * gamma[place]), Math.sqrt(3)),
};
}
function view({ x: start, eps, limit }, state) {
const size = start.length;
const x = range(size, (place) => state[`x${place + 1}`]);
const gamma = range(size, (place) => state[`gamma${place + 1}`]);
const eye = camera(state.turn, size);
const seen = (point) => eye.map((axis) => dot(axis, point));
const zero = x.map(() => 0);
const average = mean(x);
const rms = Math.sqrt(mean(x.map((value) => value ** 2)) + eps);
const centred = x.map((value) => value - average);
const deviation = Math.sqrt(mean(centred.map((value) => value ** 2)));
const rmsY = x.map((value, place) => (value / rms) * gamma[place]);
const scale = Math.sqrt(deviation ** 2 + eps);
const lnY = centred.map((value, place) => (value / scale) * gamma[place]);
const apart = Math.max(...rmsY.map((value, place) => Math.abs(value - lnY[place])));
const found = {
lines: {
sphere: outline(eye.map((axis) => axis.map((v, n) => v * gamma[n] * Math.sqrt(size)))),
...centredPlaces(eye, gamma, limit),
x: [zero, x].map(seen),
"to-rms": [x, rmsY].map(seen),
"to-ln": [x, centred, lnY].map(seen),
},
points: { x: seen(x), rms: seen(rmsY), ln: seen(lnY) },
texts: {
x: row(x, 2),
"rms-y": row(rmsY, 5 - size),
"ln-y": row(lnY, 5 - size),
mean: fixed(average, 3),
rms: shown(rms),
square: fixed(mean(rmsY.map((value) => value ** 2)), 3),
},
goals: {
same: apart < SAME_PLACE && Math.max(...rmsY.map(Math.abs)) > SAME_PLACE,
nothing: deviation < LEFT_NOTHING && Math.abs(average) > LEFT_NOTHING,
},
};
range(size, (place) => {
found.texts[`x${place + 1}`] = fixed(x[place], 2);
found.texts[`gamma${place + 1}`] = fixed(gamma[place], 1);
});
if (size === 3) {
found.texts.turn = `${state.turn}°`;
range(3, (place) => {
const axis = range(3, (other) => (other === place ? limit : 0));
found.lines[`axis${place + 1}`] = [zero, axis].map(seen);
found.points[`name${place + 1}`] = seen(axis);
});
}
return found;
}
function drag({ x: start }, state, [right, up]) {
const size = start.length;
const eye = camera(state.turn, size);
const x = range(size, (place) => state[`x${place + 1}`]);
const by = [right - dot(eye[0], x), up - dot(eye[1], x)];
return Object.fromEntries(
x.map((value, place) => [`x${place + 1}`, value + by[0] * eye[0][place] + by[1] * eye[1][place]]),
);
}
return { view, drag };
})();
const kinds_residual_stream = (() => {
const { percent, shown } = numbers;
const [VARIANCE_LOW, VARIANCE_HIGH] = [1e-2, 1e16];
const MUCH = 10_000;
const SMALL_GAIN = 0.25;
function view({ variances }, state) {
const { depth } = state;
const gain = Number(state.gain);
const streams = variances[state.gain];
const { plain, pre, post } = streams;
const growth = 1 + gain ** 2;
const share = pre[depth] / pre[depth - 1] - 1;
const lines = {
"plain-law": plain.map((_, n) => [n, growth ** n]),
"pre-law": plain.map((_, n) => [n, 1 + gain ** 2 * n]),
now: [
[depth, VARIANCE_LOW],
[depth, VARIANCE_HIGH],
],
};
const points = {};
for (const [name, values] of Object.entries(streams)) {
lines[name] = values.map((value, n) => [n, value]);
points[name] = [depth, values[depth]];
}
return {
lines,
points,
texts: {
depth: String(depth),
plain: shown(plain[depth]),
"plain-law": shown(growth ** depth),
pre: shown(pre[depth]),
"pre-law": shown(1 + gain ** 2 * depth),
post: shown(post[depth]),
share: percent(share),
},
goals: {
exploded: plain[depth] > MUCH && plain[depth - 1] <= MUCH,
diluted: gain === 1 && share < 0.03,
tamed: gain === SMALL_GAIN && depth === plain.length - 1,
},
};
}
const drag = (_data, _state, [depth]) => ({ depth });
return { view, drag };
})();
const kinds_scale_law = (() => {
const { logSpace, mean } = linear;
const { percent, row, shown } = numbers;
const [ALPHA_LOW, ALPHA_HIGH] = [1e-6, 1e4];
const [SIZE_LOW, SIZE_HIGH] = [1e-5, 1e6];
const CURVE_POINTS = 51;
const BROKEN_FROM = 0.01;
const SEARCH_STEPS = 60;
const NEAR_A_TENTH = [0.08, 0.12];
function scaleOf(x, eps) {
const meanSquare = mean(x.map((value) => value ** 2));
const across = x.length - 1;
return {
meanSquare,
size(alpha) {
const square = alpha ** 2 * meanSquare;
return Math.sqrt(square / (square + eps));
},
gradient(alpha) {
const total = alpha ** 2 * meanSquare + eps;
return Math.sqrt((across + (eps / total) ** 2) / total);
},
law: (alpha) => Math.sqrt(across / meanSquare) / alpha,
error(alpha) {
const share = eps / (alpha ** 2 * meanSquare);
const shrunk = 1 / Math.sqrt(1 + share);
const missing = ((share * shrunk) / (1 + shrunk)) * shrunk;
const along = (shrunk * share) / (1 + share);
return Math.sqrt(missing ** 2 + along ** 2 / across);
},
edge() {
let [low, high] = [-12, 12];
for (let step = 0; step < SEARCH_STEPS; step++) {
const middle = (low + high) / 2;
if (this.error(10 ** middle) > BROKEN_FROM) low = middle;
else high = middle;
}
return 10 ** ((low + high) / 2);
},
};
}
function view({ x, eps: startEps }, state) {
const [alpha, eps] = [10 ** state.alpha, 10 ** state.eps];
const scale = scaleOf(x, eps);
const alphas = logSpace(ALPHA_LOW, ALPHA_HIGH, CURVE_POINTS);
const edge = scale.edge();
const signed = state.negative ? -alpha : alpha;
const rms = Math.sqrt(alpha ** 2 * scale.meanSquare + eps);
const off = scale.error(alpha);
const near = off >= NEAR_A_TENTH[0] && off <= NEAR_A_TENTH[1];
return {
lines: {
size: alphas.map((one) => [one, scale.size(one)]),
gradient: alphas.map((one) => [one, scale.gradient(one)]),
law: [ALPHA_LOW, ALPHA_HIGH].map((one) => [one, scale.law(one)]),
broken: [
[ALPHA_LOW, SIZE_LOW],
[edge, SIZE_LOW],
[edge, SIZE_HIGH],
[ALPHA_LOW, SIZE_HIGH],
],
now: [
[alpha, SIZE_LOW],
[alpha, SIZE_HIGH],
],
},
points: { size: [alpha, scale.size(alpha)], gradient: [alpha, scale.gradient(alpha)] },
texts: {
alpha: shown(alpha, 3),
eps: shown(eps, 3),
y: row(
x.map((value) => (signed * value) / rms),
2,
),
size: shown(scale.size(alpha)),
gradient: shown(scale.gradient(alpha)),
law: shown(scale.law(alpha)),
off: percent(off),
edge: shown(edge, 3),
},
goals: { off: near, moved: near && Math.abs(state.eps - Math.log10(startEps)) > 0.5 },
};
}
const drag = (_data, _state, [alpha]) => ({ alpha: Math.log10(alpha) });
return { view, drag };
})();
const kinds_softmax_temperature = (() => {
const { fixed, shown } = numbers;
const BAR_SHARE = 0.7;
const FLOAT32_LARGEST_EXPONENT = Math.log((2 - 2 ** -23) * 2 ** 127);
const NEARLY_ONE = 0.999;
function view({ logits: given }, state) {
const temperature = 10 ** state.temperature;
const logits = given.map((logit) => logit + state.shift);
const top = Math.max(...logits);
const weights = logits.map((logit) => Math.exp((logit - top) / temperature));
const sum = (values) => values.reduce((total, value) => total + value, 0);
const total = sum(weights);
const shares = weights.map((weight) => weight / total);
const entropy = sum(shares.map((share) => (share > 0 ? -share * Math.log(share) : 0)));
const uniform = Math.log(logits.length);
const exponent = top / temperature;
const overflows = exponent > FLOAT32_LARGEST_EXPONENT;
const largest = Math.max(...shares);
const found = {
lines: {},
points: {},
texts: {
temperature: shown(temperature, 3),
shift: fixed(state.shift, 0),
entropy: fixed(entropy, 4),
uniform: fixed(uniform, 4),
choices: fixed(Math.exp(entropy), 3),
largest: fixed(largest, 4),
total: fixed(sum(shares), 4),
naive: overflows ? "∞: it overflows" : shown(Math.exp(exponent), 3),
},
goals: {
flat: entropy > NEARLY_ONE * uniform,
sharp: largest > NEARLY_ONE,
overflow: overflows && temperature > 0.5 && temperature < 2,
},
};
shares.forEach((share, place) => {
const [n, half] = [place + 1, BAR_SHARE / 2];
found.lines[`bar${n}`] = [
[n - half, 0],
[n - half, share],
[n + half, share],
[n + half, 0],
];
found.points[`share${n}`] = [n, share];
found.texts[`share${n}`] = fixed(share, 3);
});
return found;
}
return { view };
})();
const kinds_universal_approximation = (() => {
const { project, range } = linear;
const { fixed, shown } = numbers;
const SAMPLES = 201;
const MIDDLE = (SAMPLES - 1) / 2;
const MOST_UNITS = 40;
const ERROR_LOW = 1e-4;
const NO_ERROR = 1e-12;
const CLOSE = 0.01;
const X = range(SAMPLES, (place) => (place - MIDDLE) / MIDDLE);
const FUNCTIONS = {
abs: Math.abs,
square: (x) => x ** 2,
wave: (x) => Math.sin(2 * Math.PI * x),
bump: (x) => 1 / (1 + 25 * x ** 2),
step: Math.sign,
};
function hidden(activation, count) {
const pieces = count - 1;
const units = range(pieces, (place) => {
const fromKnot = X.map((x) => x - (-1 + (2 * place) / pieces));
if (activation === "relu") return fromKnot.map((t) => Math.max(0, t));
if (activation === "tanh") return fromKnot.map((t) => Math.tanh((t - 1 / pieces) * pieces));
return fromKnot.map((t) => t ** 2);
});
return [X.map(() => 1), ...units];
}
function fit(name, activation, count) {
const target = X.map(FUNCTIONS[name]);
const output = project(hidden(activation, count), target);
const error = target.map((value, place) => Math.abs(value - output[place]));
if (name === "step") error[MIDDLE] = 1 + Math.abs(output[MIDDLE]);
return { target, output, error };
}
const known = {};
function supErrors(name, activation) {
const key = `${name} ${activation}`;
known[key] ??= range(MOST_UNITS, (place) => Math.max(...fit(name, activation, place + 1).error));
return known[key];
}
const visible = (error) => (error > NO_ERROR ? error : ERROR_LOW * ERROR_LOW);
const written = (error) => (error > NO_ERROR ? shown(error) : "0");
function view(_data, { function: name, activation, units }) {
const { target, output, error } = fit(name, activation, units);
const errors = supErrors(name, activation);
const sup = errors[units - 1];
const worst = sup > NO_ERROR ? error.findIndex((value) => value > sup * (1 - 1e-6)) : MIDDLE;
const place = X[worst];
const curve = (values) => range(MIDDLE + 1, (half) => [X[2 * half], values[2 * half]]);
return {
lines: {
target: curve(target),
network: curve(output),
gap: [
[place, target[worst]],
[place, output[worst]],
],
errors: errors.map((value, n) => [n + 1, visible(value)]),
},
points: { worst: [place, output[worst]], now: [units, visible(sup)] },
texts: {
units: String(units),
sup: written(sup),
place: sup > NO_ERROR ? fixed(place, 2) : "nowhere",
half: written(errors[Math.max(1, Math.floor(units / 2)) - 1]),
},
goals: {
close: name !== "step" && sup < CLOSE,
polynomial: name === "abs" && activation === "square" && units === MOST_UNITS,
jump: name === "step" && units >= 30,
},
};
}
const drag = (_data, _state, [units]) => ({ units });
return { view, drag };
})();
const main = (() => {
const { range } = linear;
function place([low, high, start, end, log], value) {
const scale = (one) => (log ? Math.log10(Math.max(one, low * 1e-9)) : one);
return start + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (end - start);
}
function valueAt([low, high, start, end, log], at) {
const share = (at - start) / (end - start);
return log ? low * (high / low) ** share : low + share * (high - low);
}
const units = (value) => String(Math.round(value * 10) / 10);
function read(control) {
if (control.type === "range") return Number(control.value);
return control.type === "checkbox" ? control.checked : control.value;
}
class Figure {
constructor(element, kind) {
this.kind = kind;
this.element = element;
this.picture = element.querySelector("svg.picture");
Object.assign(this, JSON.parse(element.dataset.script));
this.controls = [...element.querySelectorAll("[data-control]")];
this.status = element.querySelector("[data-status]");
for (const control of this.controls) {
control.addEventListener("input", () => this.change());
}
const reset = element.querySelector("[data-reset]");
reset?.addEventListener("click", () => this.reset());
for (const handle of element.querySelectorAll("[data-drag]")) this.makeMovable(handle);
}
get state() {
return Object.fromEntries(this.controls.map((one) => [one.dataset.control, read(one)]));
}
control(key) {
return this.controls.find((one) => one.dataset.control === key);
}
plane(part) {
return this.planes[part.dataset.plane ?? "main"];
}
change() {
this.waiting ??= requestAnimationFrame(() => {
this.waiting = undefined;
this.show(this.kind.view(this.data, this.state));
});
}
reset() {
for (const control of this.controls) {
if (control.type === "checkbox") control.checked = control.defaultChecked;
else if (control.type === "range") control.value = control.defaultValue;
else control.value = [...control.options].find((one) => one.defaultSelected).value;
}
this.change();
}
show({ lines, points, texts, goals }) {
for (const part of this.picture.querySelectorAll("[data-part]")) {
const [x, y] = this.plane(part);
const at = (point) => `${units(place(x, point[0]))} ${units(place(y, point[1]))}`;
const name = part.dataset.part;
if (part.localName === "g") part.setAttribute("transform", `translate(${at(points[name])})`);
else {
const end = "closed" in part.dataset ? "Z" : "";
part.setAttribute("d", `M${lines[name].map(at).join("L")}${end}`);
}
}
for (const cell of this.element.querySelectorAll("[data-value]")) {
cell.textContent = texts[cell.dataset.value];
}
for (const control of this.controls) {
if (control.type === "range") {
control.setAttribute("aria-valuetext", texts[control.dataset.control]);
}
}
for (const handle of this.picture.querySelectorAll("[data-drag]")) this.tell(handle);
for (const [name, reached] of Object.entries(goals)) if (reached) this.found(name);
}
found(name) {
const goal = this.element.querySelector(`[data-goal="${name}"]`);
if (goal.classList.contains("is-found")) return;
goal.classList.add("is-found");
this.status.textContent = `Found. ${goal.querySelector("[data-found]").textContent}`;
}
makeMovable(handle) {
this.picture.setAttribute("role", "group");
for (const text of this.picture.querySelectorAll("text")) text.setAttribute("aria-hidden", "true");
const area = document.createElementNS("http://www.w3.org/2000/svg", "circle");
area.setAttribute("class", "touch");
area.setAttribute("r", "34");
handle.prepend(area);
handle.setAttribute("tabindex", "0");
handle.setAttribute("role", "slider");
handle.setAttribute("aria-label", handle.dataset.label);
this.tell(handle);
handle.addEventListener("pointerdown", (event) => {
if (event.button) return;
event.preventDefault();
handle.setPointerCapture(event.pointerId);
handle.focus({ preventScroll: true });
});
handle.addEventListener("pointermove", (event) => {
if (!handle.hasPointerCapture(event.pointerId)) return;
const toPicture = this.picture.getScreenCTM().inverse();
const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(toPicture);
const [x, y] = this.plane(handle);
this.move([valueAt(x, at.x), valueAt(y, at.y)]);
});
handle.addEventListener("keydown", (event) => this.nudge(handle, event));
}
move(point) {
for (const [key, value] of Object.entries(this.kind.drag(this.data, this.state, point))) {
this.control(key).value = value;
}
this.change();
}
nudge(handle, event) {
const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const way = ways[event.key];
if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
event.preventDefault();
const times = event.shiftKey ? 10 : 1;
const keys = handle.dataset.drag.split(" ");
const first = this.control(keys[0]);
if (keys.length === 1) {
const forward = way[0] + way[1] > 0;
range(times, () => (forward ? first.stepUp() : first.stepDown()));
this.change();
return;
}
const step = Number(first.step) * times * (keys.length - 1);
const [x, y] = this.kind.view(this.data, this.state).points[handle.dataset.part];
this.move([x + way[0] * step, y + way[1] * step]);
}
tell(handle) {
const controls = handle.dataset.drag.split(" ").map((key) => this.control(key));
const [first] = controls;
handle.setAttribute("aria-valuemin", first.min);
handle.setAttribute("aria-valuemax", first.max);
handle.setAttribute("aria-valuenow", first.value);
const texts = controls.map((one) => one.getAttribute("aria-valuetext"));
handle.setAttribute("aria-valuetext", texts.join(", "));
}
}
function start(kinds) {
for (const element of document.querySelectorAll("[data-figure]")) {
const kind = kinds[element.dataset.figure];
if (kind) new Figure(element, kind);
}
}
return { start };
})();
main.start({"norm-geometry": kinds_norm_geometry, "residual-stream": kinds_residual_stream, "scale-law": kinds_scale_law, "softmax-temperature": kinds_softmax_temperature, "universal-approximation": kinds_universal_approximation});
}
