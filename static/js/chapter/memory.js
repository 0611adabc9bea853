// What a reader has done in this chapter, kept in the browser.

export const root = document.querySelector("[data-chapter]");
const key = (name) => `chapter:${root.dataset.chapter}:${name}`;

/** localStorage, or nothing where the browser forbids it: the page works, it only forgets. */
export function read(name) {
  try {
    return localStorage.getItem(key(name));
  } catch {
    return null;
  }
}

export function write(name, value) {
  try {
    localStorage.setItem(key(name), value);
  } catch {
    // Private mode, or a full store.
  }
}
