// Derivation: one step at a time.

import { read, root, write } from "./memory.js";

export function stepThrough() {
  const list = root.querySelector("[data-steps]");
  const controls = root.querySelector("[data-steps-controls]");
  if (!list || list.children.length < 2) return;
  const steps = [...list.children];
  const [next, all, count] = ["next", "all", "count"].map((name) => controls.querySelector(`[data-steps-${name}]`));
  let shown = Math.min(Number(read("steps")) || 1, steps.length);

  const show = (number) => {
    shown = Math.max(1, Math.min(number, steps.length));
    steps.forEach((step, index) => {
      // Found by the browser's own search, which then opens it.
      if (index < shown) step.removeAttribute("hidden");
      else step.setAttribute("hidden", "until-found");
      // Else it is read out as an item with nothing in it.
      step.ariaHidden = index < shown ? null : "true";
    });
    const done = shown === steps.length;
    next.textContent = done ? "One step at a time" : "Show the next step";
    all.hidden = done;
    count.textContent = done ? `All ${steps.length} steps` : `Step ${shown} of ${steps.length}`;
    write("steps", shown);
  };
  const showHash = () => {
    const index = steps.findIndex((step) => `#${step.id}` === location.hash);
    if (index < 0) return;
    if (index >= shown) show(index + 1);
    steps[index].scrollIntoView();
  };

  next.addEventListener("click", () => {
    if (shown < steps.length) return show(shown + 1);
    show(1);
    steps[0].scrollIntoView({ block: "nearest" });
  });
  all.addEventListener("click", () => {
    // The button goes: keep the keyboard's place beside it.
    show(steps.length);
    next.focus({ preventScroll: true });
  });
  for (const [index, step] of steps.entries()) step.addEventListener("beforematch", () => show(index + 1));
  addEventListener("hashchange", showHash);
  show(shown);
  controls.hidden = false;
  showHash();
}
