// The exercise's page: editor, drafts, runs of the public cases, comparing two submissions.
// Without it the form posts as it is: every button has an address of its own.

import { editorFor } from "./editor.js";
import { answerOf, ask, dateOf, keptTexts, reasonOf } from "./kept.js";
import { bindRun } from "./run.js";

const form = document.querySelector("form[data-exercise]");
const field = form.querySelector("[data-editor]");
const starter = form.querySelector("template[data-starter]")?.content.textContent ?? "";

const QUIET_MS = 1200; // a text is sent to the site after this pause in typing
const RETRY_MS = 5000; // and again after this one where it could not be kept, each time twice as long
const LONGEST_RETRY_MS = 60_000;
const FETCH = { "X-Requested-With": "fetch" };

// What this browser holds of a visitor's text comes back: there is no account that could have another.
const kept = keptTexts(`draft:${form.dataset.exercise}`);
const back = form.dataset.draftUrl ? undefined : kept.left(field.value)[0];
if (back) field.value = back.text;

let run = () => {};
const editor = editorFor(field, { onChange: () => drafts.changed(), onRun: () => run() });
run = bindRun(form, editor, () => drafts.where());
if (form.dataset.markLine) editor.markLine(Number(form.dataset.markLine));

// --- drafts: in this browser at once, in the account after a pause -----------------------------------
const drafts = draftKeeper(form.dataset.draftUrl ?? "");

function draftKeeper(url) {
  const state = form.querySelector("[data-draft-state]");
  const notice = form.querySelector("[data-draft-notice]");
  const seenField = form.querySelector("[name=seen]");
  // A text that is not the draft replaces it knowingly: the account sets the draft aside.
  let other = "draftOther" in form.dataset;
  let seen = other ? 0 : Number(form.dataset.draftVersion ?? 0);
  let timer = 0;
  let pause = RETRY_MS;
  let sending = false;
  let again = false;
  let stopped = false; // another text waits for a decision: nothing is written over it
  let unsaved = false; // something was typed that no answer of the site says to be kept
  let isHere = true; // this browser keeps what is unsaved

  const say = (text, warning = false) => {
    state.textContent = text;
    state.classList.toggle("warn", warning);
  };
  const clock = (time) => new Date(time).toLocaleTimeString();
  const keep = (saved) => {
    unsaved = !saved;
    isHere = kept.write(field.value, saved) || saved;
  };
  const where = () =>
    isHere
      ? "This browser keeps the text."
      : "This browser cannot keep it either: copy the text before you leave this page.";

  /** Tell of another text than the editor's, and let the learner choose. */
  const offer = (text, message, { take = () => {}, leave }) => {
    stopped = true;
    ask(notice, message, (isTaken) => {
      stopped = false;
      if (isTaken) {
        take();
        editor.replace(text); // undo brings back what was in the editor
      } else {
        leave();
      }
      kept.forget(text);
      offerLeft();
      editor.focus();
    });
  };
  /** Offer what this browser holds and the account does not have: typed while offline or signed out. */
  const offerLeft = () => {
    const left = url && !stopped ? kept.left(field.value)[0] : undefined;
    if (!left) return;
    offer(left.text, `This browser holds a text of yours from ${dateOf(left)} that your account does not have.`, {
      leave: () => unsaved && send(),
    });
  };
  /** Offer the program alone, where the site finds that more was pasted than that. */
  const repairs = form.querySelector("[data-repair]");
  const offerRepair = (text, repair) => {
    repairs.hidden = !repair?.text || field.value !== text;
    if (repairs.hidden) return;
    repairs.querySelector("[data-repair-text]").textContent = repair.message;
    repairs.querySelector("[data-repair-take]").onclick = () => {
      repairs.hidden = true;
      editor.replace(repair.text); // undo brings back what was pasted
      editor.focus();
    };
  };
  const isSaved = (text, { version, saved_at: savedAt }) => {
    seen = version;
    seenField.value = seen;
    other = false;
    pause = RETRY_MS;
    if (field.value === text) keep(true);
    say(`Saved to your account at ${clock(savedAt)}`);
  };

  const sendAgain = (replace, seconds = 0) => {
    timer = setTimeout(() => send(replace), Math.max(pause, 1000 * seconds));
    pause = Math.min(2 * pause, LONGEST_RETRY_MS);
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
      const { status, ok, data } = await answerOf(response);
      offerRepair(text, data.repair);
      if (ok && Number.isInteger(data.version)) {
        isSaved(text, data);
      } else if (status === 409 && typeof data.source === "string") {
        say(`Not saved to your account yet: see the note below. ${where()}`, true);
        offer(
          data.source,
          `In another tab or on another machine you saved a different text at ${clock(data.saved_at)}.`,
          { take: () => (seen = data.version), leave: () => send(true) },
        );
      } else {
        const reason = data.message ? `. ${data.message}` : `: ${reasonOf(status)}.`;
        say(`Not saved to your account${reason} ${where()}`, true);
        if (status === 429 || status >= 500) sendAgain(replace, Number(response.headers.get("Retry-After")) || 0);
      }
    } catch {
      say(`No connection: it is saved to your account when the site answers again. ${where()}`, true);
      sendAgain(replace);
    } finally {
      sending = false;
      if (again) {
        again = false;
        if (!stopped) send();
      }
    }
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden && url && unsaved && !stopped) {
      clearTimeout(timer);
      send();
    }
  });
  addEventListener("beforeunload", (event) => unsaved && !isHere && event.preventDefault());

  if (back) {
    keep(false);
    say(`Your text of ${dateOf(back)}, kept in this browser.`);
  }
  // What came with the page from the account is no text of this browser's alone.
  if (url && !other) kept.forget(field.value);
  offerLeft();

  return {
    where,
    isSaved,
    changed() {
      keep(false);
      clearTimeout(timer);
      if (!url) say(isHere ? "Kept in this browser." : where(), !isHere);
      else if (!stopped) {
        say("Typing ...");
        timer = setTimeout(send, QUIET_MS);
      }
    },
    /** Keep the text here until an answer says that the site has it. */
    hold() {
      clearTimeout(timer);
      if (unsaved || other) keep(false);
    },
    /** Nothing was stored: go on as before. */
    release() {
      if (url && !stopped) timer = setTimeout(send, QUIET_MS);
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
form.addEventListener("submit", async (event) => {
  if (event.submitter !== submit) return; // a download: the page stays
  event.preventDefault();
  if (sent) return;
  sent = true;
  submit.setAttribute("aria-disabled", "true");
  say("Sending.");
  drafts.hold();
  const text = field.value;
  try {
    const body = new FormData(form);
    const response = await fetch(form.action, { method: "POST", body, headers: FETCH, credentials: "same-origin" });
    const { status, ok, data } = await answerOf(response);
    if (ok && typeof data.url === "string") {
      if (Number.isInteger(data.version)) drafts.isSaved(text, data);
      location.assign(data.url);
      return; // nothing is sent twice while the verdict's page comes
    }
    notSent(data.message ?? `Nothing was submitted: ${reasonOf(status)}.`);
    if (status === 401 && data.sign_in) signIn(data.sign_in);
  } catch {
    notSent("The site does not answer. Submit again in a moment: what arrives twice counts once.");
  }
});

function say(text, warning = false) {
  state.textContent = text;
  state.classList.toggle("warn", warning);
}

function notSent(message) {
  say(`${message} ${drafts.where()}`, true);
  ready();
  drafts.release();
}

/** Lead to sign in, beside this page: it has the text, and can submit it then. */
function signIn(address) {
  const link = Object.assign(document.createElement("a"), { href: address, target: "_blank", textContent: "Sign in" });
  state.append(" ", link, " in another tab, then submit here.");
}

function ready() {
  sent = false;
  submit?.removeAttribute("aria-disabled");
}
// Coming back with the Back button: the form can be sent again.
addEventListener("pageshow", () => {
  ready();
  if (state) say("");
});

// --- comparing ----------------------------------------------------------------------------------------
document.querySelector("[data-compare]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { showComparison } = await import("./diff.js");
  await showComparison(event.target);
});
