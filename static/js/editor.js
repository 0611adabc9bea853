// An editor for a field of Python: the field itself with comforts, or CodeMirror in its place.
// Without this file the field is a plain text area that posts as it is. With CodeMirror the field
// stays in the form, hidden, and holds the same text at every moment.

const INDENT = "    ";
// Spaces of other kinds, what has no shape, and what turns the direction of text: nobody sees them otherwise.
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
const HIDDEN = /[\u00a0\u034f\u115f\u1160\u1680\u180e\u2000-\u200b\u202a-\u202f\u205f-\u206f\u3000\u3164\uffa0]/g;
const NEAR = "600px 0px"; // how far below the window a field counts as near

/**
 * Make a field comfortable, and once it comes near the window put CodeMirror in its place, where
 * its form names the bundle and a nonce for the styles.
 *
 * onChange() is called after each change by the learner, onRun() for Ctrl and Enter.
 */
export function editorFor(field, { onChange = () => {}, onRun = () => {} } = {}) {
  const form = field.form;
  let shown = plainEditor(field, onChange, onRun);
  const editor = {
    field,
    get text() {
      return field.value;
    },
    /** Replace the whole text; undo brings the former one back. */
    replace: (text) => shown.replace(text),
    markLine: (number) => shown.markLine(number),
    goToLine: (number) => shown.goToLine(number),
    focus: () => shown.focus(),
    ready: Promise.resolve(),
  };
  const { editorBundle: bundle, nonce } = form.dataset;
  if (bundle && nonce) {
    editor.ready = near(field)
      .then(() => import(bundle))
      .then((codemirror) => {
        const mark = shown.marked;
        shown.leave();
        shown = richEditor(codemirror, field, nonce, onChange, onRun);
        if (mark) shown.markLine(mark);
      })
      // The bundle did not come: the text area goes on as it is.
      .catch(() => {});
  }
  return editor;
}

function near(element) {
  return new Promise((resolve) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        resolve();
      },
      { rootMargin: NEAR },
    );
    observer.observe(element);
  });
}

// --- the text area with comforts -----------------------------------------------------------------
function plainEditor(field, onChange, onRun) {
  let leaving = false; // after Escape the next Tab leaves the field
  const stop = new AbortController();

  /** Replace a range as typing would, so that undo works. */
  const replaceRange = (start, end, text) => {
    field.focus({ preventScroll: true });
    field.setSelectionRange(start, end);
    if (!document.execCommand("insertText", false, text)) {
      field.setRangeText(text, start, end, "end");
      onChange();
    }
  };
  const indentLines = (outward) => {
    const { selectionStart: start, selectionEnd: end, value } = field;
    const from = value.lastIndexOf("\n", start - 1) + 1;
    const lines = value.slice(from, end).split("\n");
    const changed = lines.map((line) => (outward ? line.replace(/^ {1,4}/, "") : line && INDENT + line));
    const text = changed.join("\n");
    if (text === lines.join("\n")) return;
    replaceRange(from, end, text);
    const shift = changed[0].length - lines[0].length;
    field.setSelectionRange(Math.max(from, start + shift), from + text.length);
  };
  const onKey = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      leaving = true;
      return;
    }
    const { selectionStart: start, selectionEnd: end, value } = field;
    const lineStart = value.lastIndexOf("\n", start - 1) + 1;
    if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      if (event.shiftKey || value.slice(start, end).includes("\n")) indentLines(event.shiftKey);
      else replaceRange(start, end, " ".repeat(INDENT.length - ((start - lineStart) % INDENT.length)));
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onRun();
    } else if (event.key === "Enter" && !event.shiftKey) {
      // The new line begins under the old one, one level deeper after a colon.
      const line = value.slice(lineStart, start);
      const indent = /^ */.exec(line)[0] + (/:\s*(#.*)?$/.test(line) ? INDENT : "");
      if (indent) {
        event.preventDefault();
        replaceRange(start, end, `\n${indent}`);
      }
    }
    if (event.key !== "Shift") leaving = false;
  };
  field.addEventListener("keydown", onKey, { signal: stop.signal });
  field.addEventListener("input", () => onChange(), { signal: stop.signal });

  return {
    marked: 0,
    replace(text) {
      replaceRange(0, field.value.length, text);
    },
    markLine(number) {
      this.marked = number; // a text area cannot show a mark: the message names the line
    },
    goToLine(number) {
      const lines = field.value.split("\n");
      const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
      field.focus();
      field.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
      const lineHeight = parseFloat(getComputedStyle(field).lineHeight) || 20;
      field.scrollTop = Math.max(0, (number - 5) * lineHeight);
    },
    focus: () => field.focus(),
    leave: () => stop.abort(),
  };
}

// --- CodeMirror -----------------------------------------------------------------------------------
function richEditor(cm, field, nonce, onChange, onRun) {
  const setMark = cm.StateEffect.define();
  const lineMark = cm.Decoration.line({ class: "cm-errorLine", attributes: { "data-error": "" } });
  const marks = cm.StateField.define({
    create: () => cm.Decoration.none,
    update(value, transaction) {
      let next = value.map(transaction.changes);
      for (const effect of transaction.effects) {
        if (!effect.is(setMark)) continue;
        const { doc } = transaction.state;
        const known = effect.value >= 1 && effect.value <= doc.lines;
        next = known ? cm.Decoration.set([lineMark.range(doc.line(effect.value).from)]) : cm.Decoration.none;
      }
      return next;
    },
    provide: (marked) => cm.EditorView.decorations.from(marked),
  });
  const run = () => {
    onRun();
    return true;
  };
  const help = field.getAttribute("aria-describedby");
  const label = field.labels?.[0];
  if (label && !label.id) label.id = `${field.id}-label`;
  const view = new cm.EditorView({
    doc: field.value,
    extensions: [
      cm.EditorView.cspNonce.of(nonce),
      cm.lineNumbers(),
      cm.highlightActiveLineGutter(),
      cm.highlightSpecialChars({ addSpecialChars: HIDDEN, render: hiddenCharacter }),
      cm.history(),
      cm.drawSelection(),
      cm.EditorState.allowMultipleSelections.of(true),
      cm.EditorState.tabSize.of(4),
      cm.indentUnit.of(INDENT),
      cm.indentOnInput(),
      cm.bracketMatching(),
      cm.closeBrackets(),
      cm.highlightActiveLine(),
      cm.python(),
      cm.syntaxHighlighting(highlighting(cm)),
      marks,
      theme(cm),
      cm.keymap.of([
        { key: "Mod-Enter", run },
        { key: "Tab", run: cm.indentMore, shift: cm.indentLess },
        ...cm.closeBracketsKeymap,
        ...cm.defaultKeymap,
        ...cm.historyKeymap,
      ]),
      cm.EditorView.contentAttributes.of({
        "aria-labelledby": label?.id ?? "",
        ...(help && { "aria-describedby": help }),
        ...(field.getAttribute("aria-invalid") && { "aria-invalid": "true" }),
        tabindex: "0",
        spellcheck: "false",
        autocapitalize: "off",
        autocorrect: "off",
      }),
      cm.EditorView.domEventHandlers({ beforeinput: (event, own) => typedOverLines(cm, event, own) }),
      cm.EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        field.value = update.state.doc.toString();
        onChange();
      }),
    ],
  });

  // As tall as the field was, so that nothing below it moves.
  view.dom.style.height = `${field.offsetHeight}px`;
  const focused = document.activeElement === field;
  const { selectionStart: anchor, selectionEnd: head } = field;
  field.before(view.dom);
  field.hidden = true;
  label?.addEventListener("click", () => view.focus());
  if (focused) {
    view.focus();
    const { length } = view.state.doc;
    view.dispatch({ selection: { anchor: Math.min(anchor, length), head: Math.min(head, length) } });
  }

  return {
    replace(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
    },
    markLine: (number) => view.dispatch({ effects: setMark.of(number) }),
    goToLine(number) {
      const line = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)));
      view.dispatch({
        selection: { anchor: line.from, head: line.to },
        effects: cm.EditorView.scrollIntoView(line.from, { y: "center" }),
      });
      view.focus();
    },
    focus: () => view.focus(),
  };
}

/**
 * Replace a selection of several lines by what is typed. Left to itself the browser joins the lines
 * with style attributes, which the page's policy refuses and reports.
 */
function typedOverLines(cm, event, view) {
  if (event.inputType !== "insertText" || event.data === null || view.composing) return false;
  let { from, to } = view.state.selection.main;
  const selection = view.root.getSelection();
  if (from === to && selection.rangeCount && !selection.isCollapsed) {
    // Selected a moment ago, and the editor has not heard of it yet.
    const range = selection.getRangeAt(0);
    from = view.posAtDOM(range.startContainer, range.startOffset);
    to = view.posAtDOM(range.endContainer, range.endOffset);
  }
  if (view.state.doc.lineAt(from).to >= to) return false;
  event.preventDefault();
  const typed = () =>
    view.state.update({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.length },
      userEvent: "input.type",
    });
  const handled = view.state
    .facet(cm.EditorView.inputHandler)
    .some((handle) => handle(view, from, to, event.data, typed));
  if (!handled) view.dispatch(typed());
  return true;
}

/** A character that nobody sees, by its number. */
function hiddenCharacter(code, description) {
  const shown = document.createElement("span");
  shown.className = "hidden-character";
  shown.dataset.code = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  shown.title = shown.ariaLabel = description ?? "";
  return shown;
}

/** The colours of the listings, which follow the page's theme by themselves. */
function highlighting(cm) {
  const { tags: t } = cm;
  const colour = (name, ...tags) => ({ tag: tags, color: `var(--code-${name})` });
  return cm.HighlightStyle.define([
    colour("keyword", t.keyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword, t.operatorKeyword, t.modifier),
    colour("name", t.function(t.definition(t.variableName)), t.definition(t.className), t.className),
    colour("string", t.string, t.special(t.string), t.docString),
    colour("number", t.number, t.bool, t.null),
    colour("builtin", t.self, t.special(t.variableName), t.standard(t.variableName)),
    colour("decorator", t.meta),
    { tag: [t.comment, t.lineComment], color: "var(--code-muted)", fontStyle: "italic" },
    colour("error", t.invalid),
  ]);
}

function theme(cm) {
  return cm.EditorView.theme({
    "&": { backgroundColor: "var(--code-bg)", color: "var(--code-fg)", fontSize: "var(--code-size)" },
    "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "2px" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
    ".cm-content": { caretColor: "var(--ink)", padding: "0.75rem 0" },
    ".cm-line": { padding: "0 1rem 0 0.5rem" },
    ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
    ".cm-gutters": {
      backgroundColor: "var(--code-bg)",
      color: "var(--code-muted)",
      borderRight: "1px solid var(--line)",
    },
    ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.5rem 0 0.75rem", minWidth: "2.75rem" },
    ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
    ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      backgroundColor: "light-dark(#cfdff3, #2f4a6e)",
    },
    "&.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", boxShadow: "inset 0 -2px var(--accent)" },
    "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", boxShadow: "inset 0 -2px var(--bad)" },
    ".cm-errorLine": { backgroundColor: "var(--bad-soft)", boxShadow: "inset 3px 0 var(--bad)" },
  });
}
