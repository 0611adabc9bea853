// Shows what changed between two submissions below their list. Without it the form opens a page.

/** Bring the comparison that the form asks for into the form's place for it, or go to its page. */
export async function showComparison(form) {
  const query = new URLSearchParams(new FormData(form));
  try {
    const response = await fetch(`${form.action}?${query}&fragment=1`, { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const diff = page.querySelector(".diff");
    if (!response.ok || !diff) throw new TypeError(`status ${response.status}`);
    form.querySelector("[data-compare-result]").replaceChildren(diff);
    diff.dispatchEvent(new Event("learnml:added", { bubbles: true }));
    diff.querySelector("h3").focus();
  } catch {
    location.assign(`${form.action}?${query}`);
  }
}
