// Moves the figures. The server has drawn each in its first state; from then on a figure's model
// says what it shows in another, and this file puts that into the picture and the table.

import { range } from "./linear.js";

/** The place of a value on an axis [low, high, start, end, log], as courses/figures/axes.py has it. */
function place([low, high, start, end, log], value) {
  const scale = (one) => (log ? Math.log10(Math.max(one, low * 1e-9)) : one);
  return start + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (end - start);
}

function valueAt([low, high, start, end, log], at) {
  const share = (at - start) / (end - start);
  return log ? low * (high / low) ** share : low + share * (high - low);
}

const units = (value) => String(Math.round(value * 10) / 10);

function read(control) {
  if (control.type === "range") return Number(control.value);
  return control.type === "checkbox" ? control.checked : control.value;
}

class Figure {
  constructor(element, kind) {
    this.kind = kind;
    this.element = element;
    this.picture = element.querySelector("svg.picture");
    Object.assign(this, JSON.parse(element.dataset.script));
    this.controls = [...element.querySelectorAll("[data-control]")];
    this.status = element.querySelector("[data-status]");
    for (const control of this.controls) {
      control.addEventListener("input", () => this.change());
    }
    const reset = element.querySelector("[data-reset]");
    reset?.addEventListener("click", () => this.reset());
    for (const handle of element.querySelectorAll("[data-drag]")) this.makeMovable(handle);
  }

  get state() {
    return Object.fromEntries(this.controls.map((one) => [one.dataset.control, read(one)]));
  }

  control(key) {
    return this.controls.find((one) => one.dataset.control === key);
  }

  plane(part) {
    return this.planes[part.dataset.plane ?? "main"];
  }

  /** Show the new state with the next frame, however many changes come before it. */
  change() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.show(this.kind.view(this.data, this.state));
    });
  }

  reset() {
    for (const control of this.controls) {
      if (control.type === "checkbox") control.checked = control.defaultChecked;
      else if (control.type === "range") control.value = control.defaultValue;
      else control.value = [...control.options].find((one) => one.defaultSelected).value;
    }
    this.change();
  }

  show({ lines, points, texts, goals }) {
    for (const part of this.picture.querySelectorAll("[data-part]")) {
      const [x, y] = this.plane(part);
      const at = (point) => `${units(place(x, point[0]))} ${units(place(y, point[1]))}`;
      const name = part.dataset.part;
      if (part.localName === "g") part.setAttribute("transform", `translate(${at(points[name])})`);
      else {
        const end = "closed" in part.dataset ? "Z" : "";
        part.setAttribute("d", `M${lines[name].map(at).join("L")}${end}`);
      }
    }
    for (const cell of this.element.querySelectorAll("[data-value]")) {
      cell.textContent = texts[cell.dataset.value];
    }
    for (const control of this.controls) {
      if (control.type === "range") {
        control.setAttribute("aria-valuetext", texts[control.dataset.control]);
      }
    }
    for (const handle of this.picture.querySelectorAll("[data-drag]")) this.tell(handle);
    for (const [name, reached] of Object.entries(goals)) if (reached) this.found(name);
  }

  /** A task once solved stays solved. */
  found(name) {
    const goal = this.element.querySelector(`[data-goal="${name}"]`);
    if (goal.classList.contains("is-found")) return;
    goal.classList.add("is-found");
    this.status.textContent = `Found. ${goal.querySelector("[data-found]").textContent}`;
  }

  // --- points that can be moved: by pointer and by arrow keys -----------------------------------------
  makeMovable(handle) {
    // What cannot be moved is a picture; what can is a group, or its points would be hidden.
    this.picture.setAttribute("role", "group");
    // Ticks and names without the lines that they stand at tell nothing; the description does.
    for (const text of this.picture.querySelectorAll("text")) text.setAttribute("aria-hidden", "true");
    const area = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    area.setAttribute("class", "touch");
    area.setAttribute("r", "34");
    handle.prepend(area);
    handle.setAttribute("tabindex", "0");
    handle.setAttribute("role", "slider");
    handle.setAttribute("aria-label", handle.dataset.label);
    this.tell(handle);
    handle.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const toPicture = this.picture.getScreenCTM().inverse();
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(toPicture);
      const [x, y] = this.plane(handle);
      this.move([valueAt(x, at.x), valueAt(y, at.y)]);
    });
    handle.addEventListener("keydown", (event) => this.nudge(handle, event));
  }

  /** Set the controls that a point stands for; each keeps to its own steps and ends. */
  move(point) {
    for (const [key, value] of Object.entries(this.kind.drag(this.data, this.state, point))) {
      this.control(key).value = value;
    }
    this.change();
  }

  nudge(handle, event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const way = ways[event.key];
    if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const times = event.shiftKey ? 10 : 1;
    const keys = handle.dataset.drag.split(" ");
    const first = this.control(keys[0]);
    if (keys.length === 1) {
      const forward = way[0] + way[1] > 0;
      range(times, () => (forward ? first.stepUp() : first.stepDown()));
      this.change();
      return;
    }
    // In space a step of the picture is spread over three controls, and must not be rounded away.
    const step = Number(first.step) * times * (keys.length - 1);
    const [x, y] = this.kind.view(this.data, this.state).points[handle.dataset.part];
    this.move([x + way[0] * step, y + way[1] * step]);
  }

  tell(handle) {
    const controls = handle.dataset.drag.split(" ").map((key) => this.control(key));
    const [first] = controls;
    handle.setAttribute("aria-valuemin", first.min);
    handle.setAttribute("aria-valuemax", first.max);
    handle.setAttribute("aria-valuenow", first.value);
    const texts = controls.map((one) => one.getAttribute("aria-valuetext"));
    handle.setAttribute("aria-valuetext", texts.join(", "));
  }
}

export function start(kinds) {
  for (const element of document.querySelectorAll("[data-figure]")) {
    const kind = kinds[element.dataset.figure];
    if (kind) new Figure(element, kind);
  }
}
