// The quiz: an answer is checked without loading the page again.

import { read, write } from "./memory.js";
import { prepareOrders } from "./order.js";

// What was typed is kept in the browser from its sending until the site has answered that it stored it.
const typed = (question) => question.querySelector("textarea[name=value], input[type=text][name=value]");
const nameOf = (question) => `typed:${question.id}`;

/** Put back into the questions what was typed and never stored. */
export function restoreTyped() {
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
  // Disabling the button takes the focus from it, so remember now where it was.
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

/** Put the server's fragment in the question's place, keep the focus, say what changed. */
function replace(old, html, selector) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const fresh = parsed.querySelector("[data-question]");
  if (!fresh) throw new TypeError("The answer of the site holds no question.");
  const message = fresh.querySelector("[role=status]");
  const text = message?.textContent ?? "";
  // A status is announced only when its text changes after it is in the page. Until then the text keeps its
  // place unseen, so that nothing moves once more.
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
