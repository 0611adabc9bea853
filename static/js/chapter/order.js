// Steps to put in order: the numbers become places in the list.

const EDGE = 64; // pixels: dragged nearer than this to the window's edge, the page scrolls along

/** Show arrows and handles instead of numbers, in every question under `root` that is still open. */
export function prepareOrders(root) {
  for (const list of root.querySelectorAll("[data-order]")) {
    const question = list.closest("[data-question]");
    const open = !question.classList.contains("is-right");
    for (const part of question.querySelectorAll("[data-without-script]")) part.hidden = true;
    for (const part of question.querySelectorAll("[data-with-script]")) {
      part.hidden = !open && !part.matches("[data-order-number]");
    }
    // A browser that comes back to a page fills in the numbers that it had.
    const items = [...list.children];
    const placed = items.map((item) => Number(item.querySelector("select").value));
    if (new Set(placed).size === items.length) {
      list.append(...items.sort((one, other) => placeOf(one) - placeOf(other)));
    }
    number(list);
  }
}

const placeOf = (item) => Number(item.querySelector("select").value);

/** Write each item's place into its number and into the field that is sent. */
function number(list) {
  [...list.children].forEach((item, place) => {
    item.querySelector("select").value = String(place + 1);
    item.querySelector("[data-order-number]").textContent = String(place + 1);
    const [up, down] = item.querySelectorAll("[data-move]");
    up.setAttribute("aria-disabled", String(place === 0));
    down.setAttribute("aria-disabled", String(place === list.children.length - 1));
  });
}

/** After a move the marks of the last check say nothing of the new order. */
function moved(item) {
  const list = item.parentElement;
  number(list);
  for (const one of list.children) {
    one.classList.remove("is-good", "is-bad");
    for (const stale of one.querySelectorAll(".part-mark, .feedback")) stale.remove();
  }
  const said = item.closest("[data-question]").querySelector("[role=status]");
  const place = [...list.children].indexOf(item) + 1;
  said.className = "answer-state";
  said.textContent = `Moved to place ${place} of ${list.children.length}.`;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-move]");
  if (!button) return;
  const item = button.closest("[data-order-item]");
  const neighbour = button.dataset.move === "1" ? item.nextElementSibling : item.previousElementSibling;
  if (!neighbour) return;
  if (button.dataset.move === "1") neighbour.after(item);
  else neighbour.before(item);
  moved(item);
  button.focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
});

document.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest("[data-grip]");
  if (!grip || event.button !== 0) return;
  event.preventDefault();
  const item = grip.closest("[data-order-item]");
  const list = item.parentElement;
  const before = [...list.children];
  item.classList.add("is-dragged");
  const follow = (move) => {
    if (move.pointerId !== event.pointerId) return;
    if (move.clientY < EDGE) scrollBy(0, -EDGE / 4);
    if (move.clientY > innerHeight - EDGE) scrollBy(0, EDGE / 4);
    const below = [...list.children].find((other) => {
      const box = other.getBoundingClientRect();
      return other !== item && move.clientY < box.top + box.height / 2;
    });
    if ((below ?? null) === item.nextElementSibling) return;
    list.insertBefore(item, below ?? null);
    number(list);
  };
  const drop = (end) => {
    if (end.pointerId !== event.pointerId) return;
    document.removeEventListener("pointermove", follow);
    document.removeEventListener("pointerup", drop);
    document.removeEventListener("pointercancel", drop);
    item.classList.remove("is-dragged");
    if (before.some((other, place) => other !== list.children[place])) moved(item);
  };
  // On the document, because an element that is moved in the page lets go of the pointer.
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerup", drop);
  document.addEventListener("pointercancel", drop);
});
