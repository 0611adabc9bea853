// A step, its formula, its line of code and its figure light up together.

export function lightTogether() {
  const joined = new Map();
  const join = (one, other) => {
    if (!joined.has(one)) joined.set(one, new Set([one]));
    joined.get(one).add(other);
  };
  for (const element of document.querySelectorAll("[data-links]")) {
    for (const id of element.dataset.links.trim().split(/\s+/)) {
      const part = document.getElementById(id);
      if (!part) continue;
      join(element, part);
      join(part, element);
    }
  }
  // Pointer and focus may be in different places: what is lit is worked out from both each time.
  const light = () => {
    const lit = new Set();
    for (const [element, parts] of joined) {
      if (element.matches(":hover, :focus-within")) for (const part of parts) lit.add(part);
    }
    for (const element of joined.keys()) element.classList.toggle("lit", lit.has(element));
  };
  for (const element of joined.keys()) {
    for (const name of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
      element.addEventListener(name, () => requestAnimationFrame(light));
    }
  }
}
