// Texts that this browser keeps until the site has answered that it keeps them.

const MOST_OTHERS = 8; // copies of other pages; a page that could save its text leaves none

/**
 * The copies of one text under a key: this page's, and those that other pages left unsaved. Pages are
 * apart, so that neither a second tab nor typing before a decision writes over a copy.
 *
 * A copy is {text, at, page, saved}. `saved` says that the site has answered that it keeps the text.
 */
export function keptTexts(key) {
  const page = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

  const store = (copy) => {
    try {
      localStorage.setItem(key, JSON.stringify(copy));
      return true;
    } catch {
      return false; // no room, or not allowed
    }
  };
  const read = () => {
    try {
      const copy = JSON.parse(localStorage.getItem(key) ?? "null");
      if (typeof copy?.text !== "string") return null;
      return { ...copy, others: (copy.others ?? []).filter((other) => typeof other?.text === "string") };
    } catch {
      return null;
    }
  };
  /** The copies that other pages left and no site keeps, the newest first. */
  const ofOthers = (copy) => {
    if (!copy) return [];
    const { others, ...last } = copy;
    return last.saved || last.page === page ? others : [last, ...others];
  };

  return {
    /** Keep this page's text. False where the browser does not: nothing may be promised then. */
    write(text, saved) {
      const others = ofOthers(read()).filter((other) => other.text !== text && other.page !== page);
      return store({ text, saved, at: Date.now(), page, others: others.slice(0, MOST_OTHERS) });
    },
    /** What other pages left unsaved and is not `text`, the newest first. */
    left: (text) => ofOthers(read()).filter((other) => other.text.trim() && other.text !== text),
    /** Forget a text that another page left: the learner has decided about it. */
    forget(text) {
      const copy = read();
      if (!copy) return;
      const others = copy.others.filter((other) => other.text !== text);
      const decided = copy.page !== page && copy.text === text;
      store({ ...copy, saved: copy.saved || decided, others });
    },
  };
}

export const dateOf = (copy) => new Date(copy.at).toLocaleString();

/** Tell in a note of another text, and call decide(isTaken) once one of its two buttons is pressed. */
export function ask(notice, message, decide) {
  notice.querySelector("[data-draft-text]").textContent = message;
  notice.hidden = false;
  const decided = (isTaken) => () => {
    notice.hidden = true;
    decide(isTaken);
  };
  notice.querySelector("[data-draft-take]").onclick = decided(true);
  notice.querySelector("[data-draft-keep]").onclick = decided(false);
}

/** Whether an answer is the site's own and says that it did what was asked; never a page in between. */
export async function answerOf(response) {
  const type = response.headers.get("Content-Type") ?? "";
  const own = !response.redirected && type.startsWith("application/json");
  const data = own ? await response.json().catch(() => null) : null;
  return { status: response.status, ok: response.ok && data !== null, data: data ?? {} };
}

const REASONS = {
  401: "you are signed out",
  403: "the site refused it",
  404: "the page is gone",
  413: "it is too large",
  429: "too much was sent in a short time",
};

/** Why nothing was stored, for a sentence. */
export function reasonOf(status) {
  if (status >= 500) return `the site has trouble (error ${status})`;
  return REASONS[status] ?? (status >= 400 ? `error ${status}` : "something else than the site answered");
}
