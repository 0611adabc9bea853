// The exercise's page: editor, drafts, runs of the public cases, comparing two submissions.
// Without it the form posts as it is: every button has an address of its own.

import { editorFor } from "./editor.js";
import { bindRun } from "./run.js";

const form = document.querySelector("form[data-exercise]");
const field = form.querySelector("[data-editor]");
const starter = form.querySelector("template[data-starter]")?.content.textContent ?? "";

const QUIET_MS = 1200; // a text is sent to the site after this pause in typing
const RETRY_MS = 5000;
const FETCH = { "X-Requested-With": "fetch" };

// What this browser holds of a visitor's text comes back: there is no account that could have another.
const local = localDraft(`draft:${form.dataset.exercise}`);
const visitors = form.dataset.draftUrl ? null : local.read();
const isBack = Boolean(visitors?.text && !visitors.saved && visitors.text !== field.value);
if (isBack) field.value = visitors.text;

let run = () => {};
const editor = editorFor(field, { onChange: () => drafts.changed(), onRun: () => run() });
run = bindRun(form, editor);
if (form.dataset.markLine) editor.markLine(Number(form.dataset.markLine));

// --- drafts: in this browser at once, in the account after a pause -----------------------------------
const drafts = draftKeeper(form.dataset.draftUrl ?? "");

/** The text as this browser keeps it, and whether the account has it. */
function localDraft(key) {
  return {
    read() {
      try {
        return JSON.parse(localStorage.getItem(key) ?? "null");
      } catch {
        return null;
      }
    },
    write(saved) {
      try {
        localStorage.setItem(key, JSON.stringify({ text: field.value, saved, at: Date.now() }));
      } catch {
        // No room or not allowed: the text is still in the editor, and goes to the account.
      }
    },
  };
}

function draftKeeper(url) {
  const state = form.querySelector("[data-draft-state]");
  const notice = form.querySelector("[data-draft-notice]");
  const seenField = form.querySelector("[name=seen]");
  // A text that is not the draft replaces it knowingly: the account sets the draft aside.
  let other = "draftOther" in form.dataset;
  let seen = other ? 0 : Number(form.dataset.draftVersion ?? 0);
  let timer = 0;
  let sending = false;
  let again = false;
  let stopped = false; // another text waits for a decision: nothing is written over it

  const say = (text, warning = false) => {
    state.textContent = text;
    state.classList.toggle("warn", warning);
  };
  const clock = (time) => new Date(time).toLocaleTimeString();

  /** Tell of another text than the editor's, and let the learner choose. */
  const offer = (text, message, { take = () => {}, keep }) => {
    notice.querySelector("[data-draft-text]").textContent = message;
    notice.hidden = false;
    stopped = true;
    const decided = (act) => () => {
      notice.hidden = true;
      stopped = false;
      act();
      editor.focus();
    };
    // Undo brings back what was in the editor.
    notice.querySelector("[data-draft-take]").onclick = decided(() => {
      take();
      editor.replace(text);
    });
    notice.querySelector("[data-draft-keep]").onclick = decided(keep);
  };

  const send = async (replace = false) => {
    if (sending) {
      again = true;
      return;
    }
    sending = true;
    clearTimeout(timer);
    const text = field.value;
    const body = new FormData(form);
    body.delete("file");
    body.set("seen", seen);
    if (replace || other) body.set("replace", "1");
    try {
      const response = await fetch(url, { method: "POST", body, headers: FETCH, credentials: "same-origin" });
      const answer = await response.json();
      if (response.status === 200) {
        seen = answer.version;
        seenField.value = seen;
        other = false;
        if (field.value === text) local.write(true);
        say(`Saved to your account at ${clock(answer.saved_at)}`);
      } else if (response.status === 409) {
        say("Not saved to your account yet: see the note below. This browser keeps it.", true);
        offer(
          answer.source,
          `In another tab or on another machine you saved a different text at ${clock(answer.saved_at)}.`,
          { take: () => (seen = answer.version), keep: () => send(true) },
        );
      } else if (response.status === 401) {
        say("You are signed out: this browser keeps the text, your account does not.", true);
      } else {
        say(answer.message ?? "Not saved to your account. This browser keeps the text.", true);
      }
    } catch {
      say("No connection: this browser keeps the text, and it is saved when the site answers again.", true);
      timer = setTimeout(() => send(replace), RETRY_MS);
    } finally {
      sending = false;
      if (again) {
        again = false;
        if (!stopped) send();
      }
    }
  };

  const leave = () => {
    clearTimeout(timer);
    const kept = local.read();
    if (url && !stopped && kept && !kept.saved && kept.text === field.value) send();
  };
  document.addEventListener("visibilitychange", () => document.hidden && leave());

  // What this browser holds and the account does not have: typed while offline or signed out.
  const kept = local.read();
  if (isBack) say(`Your text of ${new Date(kept.at).toLocaleString()}, kept in this browser.`);
  if (url && kept?.text && !kept.saved && kept.text !== field.value) {
    offer(
      kept.text,
      `This browser holds a text of yours from ${new Date(kept.at).toLocaleString()} that your account does not have.`,
      { keep: () => local.write(false) },
    );
  }

  return {
    changed() {
      local.write(false);
      clearTimeout(timer);
      if (!url) say("Kept in this browser.");
      else if (!stopped) {
        say("Typing ...");
        timer = setTimeout(send, QUIET_MS);
      }
    },
    sent() {
      clearTimeout(timer);
      local.write(true);
    },
  };
}

form.querySelector("[data-starter-restore]")?.addEventListener("click", () => {
  editor.replace(starter);
  editor.focus();
});

// --- sending ----------------------------------------------------------------------------------------
const submit = form.querySelector("[data-submit]"); // absent when signed out
const state = form.querySelector("[data-submit-state]");
let sent = false;
form.addEventListener("submit", (event) => {
  if (event.submitter !== submit) return; // a download: the page stays
  if (sent) {
    event.preventDefault();
    return;
  }
  sent = true;
  drafts.sent();
  submit.setAttribute("aria-disabled", "true");
  state.textContent = "Sending.";
});
// Coming back with the Back button: the form can be sent again.
addEventListener("pageshow", () => {
  sent = false;
  submit?.removeAttribute("aria-disabled");
  if (state) state.textContent = "";
});

// --- comparing ----------------------------------------------------------------------------------------
document.querySelector("[data-compare]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { showComparison } = await import("./diff.js");
  await showComparison(event.target);
});
