// Shows what changed between two submissions below their list. Without it the form opens a page.

export function enableCompare(form) {
  const place = form?.querySelector("[data-compare-result]");
  if (!place) return;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const query = new URLSearchParams(new FormData(form));
    try {
      const response = await fetch(`${form.action}?${query}&fragment=1`, { credentials: "same-origin" });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const diff = page.querySelector(".diff");
      if (!response.ok || !diff) throw new TypeError(`status ${response.status}`);
      place.replaceChildren(diff);
      diff.querySelector("h3").focus();
    } catch {
      location.assign(`${form.action}?${query}`);
    }
  });
}
