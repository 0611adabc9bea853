// The search as a dialog: it fetches what the search page would show. Loaded when first opened.

const PAUSE_MS = 120;
let dialog, form, input, found, slashBox;
let selected = -1;
let timer, request;
let shownFor = "";

/** Open the dialog; `address` is the search page's, `slash` whether "/" opens it, and its switch. */
export function open(address, slash) {
  if (!dialog) build(address, slash);
  slashBox.checked = slash.isOn();
  if (!dialog.open) dialog.showModal();
  input.focus();
  input.select();
}

function build(address, slash) {
  dialog = document.createElement("dialog");
  dialog.className = "search-dialog";
  dialog.setAttribute("aria-labelledby", "search-dialog-label");
  // Fixed markup: nothing of the page or of the reader is in it.
  dialog.innerHTML = `
    <form role="search" method="get">
      <label id="search-dialog-label" for="search-dialog-text">Search all chapters</label>
      <div class="search-row"><input id="search-dialog-text" name="q" type="text" enterkeyhint="go" maxlength="200" autocomplete="off"
        spellcheck="false" placeholder="Words, symbols or TeX" role="combobox" aria-autocomplete="list"
        aria-expanded="false" aria-controls="search-dialog-list"><button class="button quiet" type="button">Close</button></div>
    </form>
    <div class="search-found" tabindex="0" role="group" aria-label="Results"></div>
    <div class="search-keys"><span><kbd translate="no">↑</kbd> <kbd translate="no">↓</kbd> choose · <kbd translate="no">Enter</kbd> open · <kbd translate="no">Esc</kbd> close</span>
      <label><input type="checkbox"> The key <kbd translate="no">/</kbd> opens this</label></div>`;
  form = dialog.querySelector("form");
  form.action = address;
  input = form.elements.q;
  found = dialog.querySelector(".search-found");
  slashBox = dialog.querySelector("[type=checkbox]");
  slashBox.addEventListener("change", () => slash.set(slashBox.checked));
  dialog.querySelector("button").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE_MS);
  });
  input.addEventListener("keydown", choose);
  form.addEventListener("submit", follow);
  found.addEventListener("click", (event) => {
    const suggestion = event.target.closest("[data-suggestion]");
    if (suggestion) {
      event.preventDefault();
      input.value = suggestion.textContent;
      input.focus();
      search();
    } else if (event.target.closest(".results a")) {
      dialog.close();
    }
  });
  document.body.append(dialog);
}

async function search() {
  request?.abort();
  request = new AbortController();
  const text = input.value.trim();
  const address = new URL(form.action);
  address.search = new URLSearchParams({ q: text, fragment: "1" });
  try {
    const response = await fetch(address, { signal: request.signal, credentials: "same-origin" });
    if (!response.ok && response.status !== 429) throw new TypeError(`The search answered ${response.status}.`);
    show(await response.text());
    shownFor = found.dataset.shownFor = text;
  } catch (problem) {
    if (problem.name === "AbortError") return;
    found.textContent = "The search cannot be reached. Try again in a moment.";
    select(-1);
  }
}

/** Put the server's fragment in place and make a list box of its links. What a reader has already
    chosen of the results for fewer letters stays chosen, where it is found again. */
function show(html) {
  const chosen = selected > 0 ? links()[selected]?.getAttribute("href") : undefined;
  found.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  const list = found.querySelector(".results");
  if (list) {
    list.id = "search-dialog-list";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Places found");
    links().forEach((link, number) => {
      link.parentElement.setAttribute("role", "presentation");
      link.id = `search-result-${number}`;
      link.setAttribute("role", "option");
      link.tabIndex = -1;
    });
  }
  input.setAttribute("aria-expanded", String(Boolean(list)));
  found.scrollTop = 0;
  const again = links().findIndex((link) => link.getAttribute("href") === chosen);
  select(list ? Math.max(again, 0) : -1);
}

function links() {
  return [...found.querySelectorAll(".results a")];
}

function select(number) {
  selected = number;
  links().forEach((link, n) => {
    link.setAttribute("aria-selected", String(n === number));
  });
  const link = links()[number];
  if (link) {
    input.setAttribute("aria-activedescendant", link.id);
    link.scrollIntoView({ block: "nearest" });
  } else {
    input.removeAttribute("aria-activedescendant");
  }
}

function choose(event) {
  const count = links().length;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !count) return;
  event.preventDefault();
  select((selected + step + count) % count);
}

/** Enter opens the chosen place, also where the answer to the last letters is still under way. */
async function follow(event) {
  event.preventDefault();
  clearTimeout(timer);
  if (shownFor !== input.value.trim()) await search();
  const link = links()[selected];
  if (!link) return;
  dialog.close();
  location.assign(link.href);
}
