// Brings the verdict: asks for the fragment again, ever less often, until it is final.

const DELAYS_MS = [400, 600, 1000, 1500, 2000];
const STEADY_DELAY_MS = 3000;
const FAILURES_BEFORE_NOTICE = 3;

const status = document.querySelector("[data-poll-status]");
let round = 0;
let etag = "";
let failures = 0;
let timer = 0;

const panel = () => document.getElementById("verdict");
const isFinal = () => panel().dataset.final === "true";

function plan() {
  clearTimeout(timer);
  // A hidden tab asks nothing; it asks at once when it is looked at again.
  if (isFinal() || document.hidden) return;
  timer = setTimeout(ask, DELAYS_MS[round] ?? STEADY_DELAY_MS);
  round += 1;
}

async function ask() {
  try {
    const response = await fetch(panel().dataset.poll, {
      headers: { "X-Requested-With": "fetch", ...(etag && { "If-None-Match": etag }) },
      credentials: "same-origin",
      cache: "no-store",
    });
    if (response.status === 200) {
      etag = response.headers.get("ETag") ?? "";
      show(await response.text());
    } else if (response.status === 401) {
      tell("You are signed out. Sign in and load this page again; your submission is kept.");
      return;
    } else if (response.status !== 304) {
      throw new Error(`status ${response.status}`);
    }
    failures = 0;
  } catch {
    failures += 1;
    if (failures === FAILURES_BEFORE_NOTICE) {
      tell("The site does not answer. Trying again; your submission is kept.");
    }
  }
  plan();
}

/** Say what hinders, for all to see. */
function tell(text) {
  status.textContent = text;
  status.className = "note warning";
}

function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("verdict");
  if (!fresh) throw new TypeError("The answer of the site holds no verdict.");
  const before = panel().dataset.status;
  panel().replaceWith(fresh);
  status.className = "sr-only";
  if (fresh.dataset.status !== before) status.textContent = fresh.dataset.status;
  document.title = document.title.replace(/^[^:]*/, fresh.dataset.title);
  if (!fresh.dataset.line) return;
  // The source was there before the verdict: mark the line now that it is known.
  document.getElementById(`source-line-${fresh.dataset.line}`)?.classList.add("is-marked");
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    clearTimeout(timer);
  } else if (!isFinal()) {
    clearTimeout(timer);
    ask();
  }
});
plan();
