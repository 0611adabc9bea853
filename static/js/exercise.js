// Comforts for the code field. Without it the field is a plain text area that posts as it is.

const INDENT = "    ";
const form = document.querySelector("form[data-exercise]");
const field = form.querySelector("[data-editor]");
const button = form.querySelector("[data-submit]");
const state = form.querySelector("[data-submit-state]"); // absent, like the button, when signed out
const starter = form.querySelector("template[data-starter]")?.content.textContent ?? "";
const name = `draft:${form.dataset.exercise}`;

// --- typing -----------------------------------------------------------------------------------------
let leaving = false; // after Escape the next Tab leaves the field

/** Replace a range as typing would, so that undo works. */
function replaceRange(start, end, text) {
  field.setSelectionRange(start, end);
  if (!document.execCommand("insertText", false, text)) field.setRangeText(text, start, end, "end");
}

function indentLines(outward) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const from = value.lastIndexOf("\n", start - 1) + 1;
  const lines = value.slice(from, end).split("\n");
  const changed = lines.map((line) => (outward ? line.replace(/^ {1,4}/, "") : line && INDENT + line));
  const text = changed.join("\n");
  if (text === lines.join("\n")) return;
  replaceRange(from, end, text);
  const shift = changed[0].length - lines[0].length;
  field.setSelectionRange(Math.max(from, start + shift), from + text.length);
}

field.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Escape") {
    leaving = true;
    return;
  }
  if (event.key === "Tab" && !leaving && !field.readOnly && !event.ctrlKey && !event.altKey) {
    event.preventDefault();
    const { selectionStart: start, selectionEnd: end, value } = field;
    if (event.shiftKey || value.slice(start, end).includes("\n")) indentLines(event.shiftKey);
    else {
      const column = start - (value.lastIndexOf("\n", start - 1) + 1);
      replaceRange(start, end, " ".repeat(INDENT.length - (column % INDENT.length)));
    }
  } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && button) {
    event.preventDefault();
    form.requestSubmit(button);
  } else if (event.key === "Enter" && !event.shiftKey && !field.readOnly) {
    // The new line begins under the old one, one level deeper after a colon.
    const { selectionStart: start, selectionEnd: end, value } = field;
    const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
    const indent = /^ */.exec(line)[0] + (/:\s*(#.*)?$/.test(line) ? INDENT : "");
    if (indent) {
      event.preventDefault();
      replaceRange(start, end, `\n${indent}`);
    }
  }
  if (event.key !== "Shift") leaving = false;
});

// --- draft ------------------------------------------------------------------------------------------
const drafts = {
  read() {
    try {
      return JSON.parse(localStorage.getItem(name) ?? "null");
    } catch {
      return null;
    }
  },
  write(text, sent = false) {
    try {
      localStorage.setItem(name, JSON.stringify({ text, sent, at: Date.now() }));
    } catch {
      // No room or not allowed: the text is still in the field.
    }
  },
  drop() {
    try {
      localStorage.removeItem(name);
    } catch {
      // Nothing was kept.
    }
  },
};

function offerDraft() {
  const draft = drafts.read();
  const bar = form.querySelector("[data-draft]");
  // What was submitted is in the list of submissions and needs no second way back.
  if (!draft?.text || draft.sent || draft.text === field.value || field.readOnly) return;
  bar.querySelector("[data-draft-time]").textContent = new Date(draft.at).toLocaleString();
  bar.hidden = false;
  bar.querySelector("[data-draft-restore]").addEventListener("click", () => {
    replaceRange(0, field.value.length, draft.text);
    bar.hidden = true;
    field.focus();
  });
  bar.querySelector("[data-draft-drop]").addEventListener("click", () => {
    drafts.drop();
    bar.hidden = true;
    field.focus();
  });
}

let saving = 0;
field.addEventListener("input", () => {
  clearTimeout(saving);
  saving = setTimeout(() => drafts.write(field.value), 400);
});
form.querySelector("[data-starter-restore]")?.addEventListener("click", () => {
  drafts.write(field.value);
  replaceRange(0, field.value.length, starter);
  field.focus();
});

// --- sending ----------------------------------------------------------------------------------------
let sent = false;
form.addEventListener("submit", (event) => {
  if (sent) {
    event.preventDefault();
    return;
  }
  sent = true;
  clearTimeout(saving);
  drafts.write(field.value, true);
  button.setAttribute("aria-disabled", "true");
  state.textContent = "Sending.";
});
// Coming back with the Back button: the form can be sent again.
addEventListener("pageshow", () => {
  sent = false;
  button?.removeAttribute("aria-disabled");
  if (state) state.textContent = "";
});
offerDraft();
