// Answers a question without loading the page again. Without it the form posts and comes back.

document.addEventListener("submit", async (event) => {
  const question = event.target.closest("[data-question]");
  if (!question || !(event.target instanceof HTMLFormElement)) return;
  event.preventDefault();
  const form = event.target;
  const button = form.querySelector("button[type=submit]");
  if (button.disabled) return;
  const body = new FormData(form);
  // Disabling the button takes the focus from it, so remember now where it was.
  const focused = selectorOf(question.contains(document.activeElement) && document.activeElement);
  const said = question.querySelector("[role=status]");
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
    if (!type.startsWith("text/html") || (!response.ok && response.status !== 422)) throw response;
    replace(question, await response.text(), focused);
  } catch (problem) {
    said.textContent =
      problem instanceof Response
        ? `The answer could not be checked (error ${problem.status}). Load the page again and retry.`
        : "No connection to the site. Your choice is still here: try again in a moment.";
    said.className = "answer-state bad";
    button.disabled = false;
    if (focused) keepFocus(question, focused);
    question.removeAttribute("aria-busy");
  }
});

/** Put the server's fragment in the question's place, keep the focus, say what changed. */
function replace(old, html, selector) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const fresh = parsed.querySelector("[data-question]");
  if (!fresh) throw new TypeError("The answer of the site holds no question.");
  const message = fresh.querySelector("[role=status]");
  const text = message?.textContent ?? "";
  // A status is announced only when its text changes after it is in the page.
  if (message) message.textContent = "";
  old.replaceWith(fresh);
  prepareOrders(fresh);
  if (message) requestAnimationFrame(() => (message.textContent = text));
  if (selector) keepFocus(fresh, selector);
  updateCount(Number(fresh.dataset.done), Number(fresh.dataset.total), "completed" in fresh.dataset);
}

function selectorOf(element) {
  if (!element) return "";
  if (!element.matches("input:not([type=text])")) return element.name ? `[name="${element.name}"]` : "button[type=submit]";
  return `[name="${CSS.escape(element.name)}"][value="${CSS.escape(element.value)}"]`;
}

function keepFocus(fresh, selector) {
  let target = fresh.querySelector(selector) ?? fresh.querySelector("button[type=submit]");
  if (!target || target.disabled || target.matches(":disabled")) {
    // The control is gone or closed: the question itself holds the keyboard's place.
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

// --- steps to put in order: the numbers become places in the list --------------------------------
const EDGE = 64; // pixels: dragged nearer than this to the window's edge, the page scrolls along

/** Show arrows and handles instead of numbers, in every question under `root` that is still open. */
function prepareOrders(root) {
  for (const list of root.querySelectorAll("[data-order]")) {
    const question = list.closest("[data-question]");
    const open = !question.classList.contains("is-right");
    for (const part of question.querySelectorAll("[data-without-script]")) part.hidden = true;
    for (const part of question.querySelectorAll("[data-with-script]")) {
      part.hidden = !open && !part.matches("[data-order-number]");
    }
    // A browser that comes back to a page fills in the numbers that it had.
    const items = [...list.children];
    const placed = items.map((item) => Number(item.querySelector("select").value));
    if (new Set(placed).size === items.length) {
      list.append(...items.sort((one, other) => placeOf(one) - placeOf(other)));
    }
    number(list);
  }
}

const placeOf = (item) => Number(item.querySelector("select").value);

/** Write each item's place into its number and into the field that is sent. */
function number(list) {
  [...list.children].forEach((item, place) => {
    item.querySelector("select").value = String(place + 1);
    item.querySelector("[data-order-number]").textContent = String(place + 1);
    const [up, down] = item.querySelectorAll("[data-move]");
    up.setAttribute("aria-disabled", String(place === 0));
    down.setAttribute("aria-disabled", String(place === list.children.length - 1));
  });
}

/** After a move the marks of the last check say nothing of the new order. */
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
  // On the document, because an element that is moved in the page lets go of the pointer.
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerup", drop);
  document.addEventListener("pointercancel", drop);
});

prepareOrders(document);
