// Runs what stands in an editor, and shows what came of it, beside it. Nothing runs by itself.

import { editorFor } from "./editor.js";
import { ask, dateOf, keptTexts, reasonOf } from "./kept.js";

const DELAYS_MS = [120, 120, 150, 200, 300, 500];
const STEADY_DELAY_MS = 1000;
const FETCH = { "X-Requested-With": "fetch" };

/**
 * Let a form's Run button run the editor's text, with the result in the form's panel.
 *
 * where() says in a sentence what keeps the text, for when the site did not take it.
 */
export function bindRun(form, editor, where) {
  const button = form.querySelector("[data-run]");
  const panel = form.querySelector("[data-run-panel]");
  if (!button || !panel) return () => {};
  const url = button.hasAttribute("formaction") ? button.formAction : form.action;
  const status = statusBeside(panel);
  let busy = false;

  const run = async () => {
    if (busy) return;
    busy = true;
    button.setAttribute("aria-disabled", "true");
    status.textContent = "Running.";
    editor.markLine(0);
    let answered = 0; // the status of the site's answer
    try {
      const body = new URLSearchParams(new FormData(form));
      body.set("source", editor.text);
      const response = await fetch(url, { method: "POST", body, headers: FETCH, credentials: "same-origin" });
      answered = response.status;
      show(panel, await response.text());
      await follow(panel);
    } catch {
      panel.textContent = `${notRun(answered)} ${where()} Try again in a moment.`;
    } finally {
      busy = false;
      button.removeAttribute("aria-disabled");
    }
    const result = panel.querySelector("[data-run-result]");
    status.textContent = result?.dataset.status ?? panel.textContent;
    if (result?.dataset.line) editor.markLine(Number(result.dataset.line));
  };

  button.addEventListener("click", (event) => {
    event.preventDefault();
    run();
  });
  panel.addEventListener("click", (event) => {
    if (event.target.closest("[data-repair-take]")) {
      // Undo brings back what was pasted.
      editor.replace(panel.querySelector("template[data-repaired]").content.textContent);
      editor.focus();
      return;
    }
    const link = event.target.closest("[data-go-to-line]");
    if (!link) return;
    event.preventDefault();
    editor.goToLine(Number(link.dataset.goToLine));
  });
  return run;
}

function notRun(status) {
  if (status === 201) return "The site does not answer any more, so what came of the run is not known.";
  return status ? `Nothing was run: ${reasonOf(status)}.` : "The site does not answer, so nothing was run.";
}

function statusBeside(panel) {
  const status = document.createElement("p");
  status.className = "sr-only";
  status.setAttribute("role", "status");
  panel.before(status);
  return status;
}

/** Put a fragment of the site into the panel. Throws where it is none. */
function show(panel, html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("[data-run-result]");
  if (!fresh) throw new TypeError("The answer of the site holds no run.");
  panel.replaceChildren(fresh);
}

/** Ask until the run has ended; throws where the site stays away. */
async function follow(panel) {
  let failures = 0;
  for (let round = 0; ; round += 1) {
    const result = panel.querySelector("[data-run-result]");
    if (result.dataset.final === "true") return;
    await new Promise((resolve) => setTimeout(resolve, DELAYS_MS[round] ?? STEADY_DELAY_MS));
    try {
      const response = await fetch(result.dataset.poll, {
        headers: FETCH,
        credentials: "same-origin",
        cache: "no-store",
      });
      if (!response.ok) throw new TypeError(`status ${response.status}`);
      show(panel, await response.text());
      failures = 0;
    } catch (problem) {
      failures += 1;
      if (failures > 5) throw problem;
    }
  }
}

/**
 * A form that runs its own text: on a page of its own, or below a listing. What was changed in it no
 * account keeps: this browser does, and offers it when the form is opened again.
 */
function enableForm(form) {
  let run = () => {};
  const field = form.querySelector("[data-editor]");
  const given = field.value;
  const kept = keptTexts(`run:${new URL(form.action).pathname}`);
  let isHere = true;
  const keep = () => (isHere = kept.write(field.value, field.value === given));
  const editor = editorFor(field, { onChange: keep, onRun: () => run() });
  run = bindRun(form, editor, () => (isHere ? "This browser keeps your text." : "Only this page has your text."));
  const offerLeft = () => {
    const left = kept.left(given)[0];
    if (!left) return;
    const message = `You changed this program on ${dateOf(left)}; this browser kept your text.`;
    ask(form.querySelector("[data-draft-notice]"), message, (isTaken) => {
      if (isTaken) editor.replace(left.text);
      kept.forget(left.text);
      if (!isTaken) offerLeft();
      editor.focus();
    });
  };
  offerLeft();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  return editor;
}

/** A listing's link opens its form below the listing, and the form alone can run something. */
function enableListing(link) {
  let opened = null;
  link.setAttribute("aria-expanded", "false");
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab, as for any link
    event.preventDefault();
    if (opened) {
      opened.hidden = !opened.hidden;
      link.setAttribute("aria-expanded", String(!opened.hidden));
      return;
    }
    try {
      const response = await fetch(`${link.href}?fragment=1`, { headers: FETCH, credentials: "same-origin" });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      opened = page.querySelector("[data-run-form]");
      if (!opened) throw new TypeError("The answer of the site holds no form.");
      opened.prepend(...page.querySelectorAll("link[rel=stylesheet]"));
    } catch {
      location.assign(link.href);
      return;
    }
    (link.closest("figure") ?? link).after(opened);
    link.setAttribute("aria-expanded", "true");
    enableForm(opened).focus();
  });
}

for (const form of document.querySelectorAll("[data-run-form]")) enableForm(form);
for (const link of document.querySelectorAll("[data-run-listing]")) enableListing(link);
// The page of one run, as it is without the exercise around it.
const alone = document.querySelector("div[data-run-panel] > [data-run-result][data-final=false]")?.parentElement;
if (alone && !alone.closest("form")) follow(alone).catch(() => location.reload());
