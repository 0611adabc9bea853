// Made from static/js/figures/ by python -m courses.figures.bundle; change the sources.
const linear = (() => {
const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const range = (count, make) => Array.from({ length: count }, (_, place) => make(place));
function logSpace(low, high, count) {
const [start, end] = [Math.log10(low), Math.log10(high)];
return range(count, (place) => 10 ** (start + ((end - start) * place) / (count - 1)));
}
function project(columns, target) {
const basis = [];
for (const column of columns) {
let rest = column;
for (let round = 0; round < 2; round++) {
for (const unit of basis) {
const along = dot(unit, rest);
rest = rest.map((value, place) => value - along * unit[place]);
}
}
const length = Math.sqrt(dot(rest, rest));
if (length > 1e-9 * Math.sqrt(dot(column, column))) {
basis.push(rest.map((value) => value / length));
}
}
const output = target.map(() => 0);
for (const unit of basis) {
const along = dot(unit, target);
unit.forEach((value, place) => (output[place] += along * value));
}
return output;
}
return { dot, mean, range, logSpace, project };
})();
const numbers = (() => {
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
function fixed(value, decimals) {
const text = Math.abs(value).toFixed(decimals);
return (value < 0 && Number(text) ? "−" : "") + text;
}
function power(exponent) {
return "10" + [...String(exponent)].map((sign) => SUPERSCRIPTS[sign]).join("");
}
function shown(value, digits = 4) {
if (value === 0) return "0";
const sign = value < 0 ? "−" : "";
if (!Number.isFinite(value)) return sign + "∞";
const [mantissa, exponent] = Math.abs(value).toExponential(digits - 1).split("e");
if (exponent >= -4 && exponent <= 5) {
return sign + fixed(Math.abs(value), Math.max(0, digits - 1 - exponent));
}
return `${sign}${mantissa}\u00a0×\u00a0${power(Number(exponent))}`;
}
function percent(share) {
return shown(100 * share, 3) + "%";
}
function row(values, decimals = 3) {
return `(${values.map((value) => fixed(value, decimals)).join(", ")})`;
}
return { fixed, power, shown, percent, row };
})();
const kinds_norm_geometry = (() => {
const { dot, mean, range } = linear;
const { fixed, row, shown } = numbers;
const OUTLINE_POINTS = 60;
const TILT = (22 * Math.PI) / 180;
const PLANE_SHARE = 0.8;
const SAME_PLACE = 0.05;
const LEFT_NOTHING = 1e-6;
const CENTRED = [
[1, -1, 0].map((value) => value / Math.sqrt(2)),
[1, 1, -2].map((value) => value / Math.sqrt(6)),
];
function camera(turnDegrees, size) {
if (size === 2) return [[1, 0], [0, 1]];
const turn = (turnDegrees * Math.PI) / 180;
return [
[-Math.sin(turn), Math.cos(turn), 0],
[-Math.sin(TILT) * Math.cos(turn), -Math.sin(TILT) * Math.sin(turn), Math.cos(TILT)],
];
}
function outline([right, up]) {
const first = Math.sqrt(dot(right, right));
const slant = first ? dot(right, up) / first : 0;
const second = Math.sqrt(Math.max(0, dot(up, up) - slant ** 2));
return range(OUTLINE_POINTS, (place) => {
const angle = (2 * Math.PI * place) / OUTLINE_POINTS;
return [first * Math.cos(angle), slant * Math.cos(angle) + second * Math.sin(angle)];
});
}
function centredPlaces(eye, gamma, limit) {
if (gamma.length === 2) return { centred: [[-limit, limit], [limit, -limit]] };
const across = (weights, length) =>
outline(eye.map((axis) => CENTRED.map((side) => length * dot(weights(axis), side))));
return {
centred: across((axis) => axis, limit * PLANE_SHARE),
equator: outline(eye.map((axis) => [0, 1].map((n) => axis[n] * gamma[n] * Math.sqrt(3)))),
circle: across((axis) => axis.map((value, place) => value * gamma[place]), Math.sqrt(3)),
};
}
function view({ x: start, eps, limit }, state) {
const size = start.length;
const x = range(size, (place) => state[`x${place + 1}`]);
const gamma = range(size, (place) => state[`gamma${place + 1}`]);
const eye = camera(state.turn, size);
const seen = (point) => eye.map((axis) => dot(axis, point));
const zero = x.map(() => 0);
const average = mean(x);
const rms = Math.sqrt(mean(x.map((value) => value ** 2)) + eps);
const centred = x.map((value) => value - average);
const deviation = Math.sqrt(mean(centred.map((value) => value ** 2)));
const rmsY = x.map((value, place) => (value / rms) * gamma[place]);
const scale = Math.sqrt(deviation ** 2 + eps);
const lnY = centred.map((value, place) => (value / scale) * gamma[place]);
const apart = Math.max(...rmsY.map((value, place) => Math.abs(value - lnY[place])));
const found = {
lines: {
sphere: outline(eye.map((axis) => axis.map((v, n) => v * gamma[n] * Math.sqrt(size)))),
...centredPlaces(eye, gamma, limit),
x: [zero, x].map(seen),
"to-rms": [x, rmsY].map(seen),
"to-ln": [x, centred, lnY].map(seen),
},
points: { x: seen(x), rms: seen(rmsY), ln: seen(lnY) },
texts: {
x: row(x, 2),
"rms-y": row(rmsY, 5 - size),
"ln-y": row(lnY, 5 - size),
mean: fixed(average, 3),
rms: shown(rms),
square: fixed(mean(rmsY.map((value) => value ** 2)), 3),
},
goals: {
same: apart < SAME_PLACE && Math.max(...rmsY.map(Math.abs)) > SAME_PLACE,
nothing: deviation < LEFT_NOTHING && Math.abs(average) > LEFT_NOTHING,
},
};
range(size, (place) => {
found.texts[`x${place + 1}`] = fixed(x[place], 2);
found.texts[`gamma${place + 1}`] = fixed(gamma[place], 1);
});
if (size === 3) {
found.texts.turn = `${state.turn}°`;
range(3, (place) => {
const axis = range(3, (other) => (other === place ? limit : 0));
found.lines[`axis${place + 1}`] = [zero, axis].map(seen);
found.points[`name${place + 1}`] = seen(axis);
});
}
return found;
}
function drag({ x: start }, state, [right, up]) {
const size = start.length;
const eye = camera(state.turn, size);
const x = range(size, (place) => state[`x${place + 1}`]);
const by = [right - dot(eye[0], x), up - dot(eye[1], x)];
return Object.fromEntries(
x.map((value, place) => [`x${place + 1}`, value + by[0] * eye[0][place] + by[1] * eye[1][place]]),
);
}
return { view, drag };
})();
const kinds_residual_stream = (() => {
const { percent, shown } = numbers;
const [VARIANCE_LOW, VARIANCE_HIGH] = [1e-2, 1e16];
const MUCH = 10_000;
const SMALL_GAIN = 0.25;
function view({ variances }, state) {
const { depth } = state;
const gain = Number(state.gain);
const streams = variances[state.gain];
const { plain, pre, post } = streams;
const growth = 1 + gain ** 2;
const share = pre[depth] / pre[depth - 1] - 1;
const lines = {
"plain-law": plain.map((_, n) => [n, growth ** n]),
"pre-law": plain.map((_, n) => [n, 1 + gain ** 2 * n]),
now: [[depth, VARIANCE_LOW], [depth, VARIANCE_HIGH]],
};
const points = {};
for (const [name, values] of Object.entries(streams)) {
lines[name] = values.map((value, n) => [n, value]);
points[name] = [depth, values[depth]];
}
return {
lines,
points,
texts: {
depth: String(depth),
plain: shown(plain[depth]),
"plain-law": shown(growth ** depth),
pre: shown(pre[depth]),
"pre-law": shown(1 + gain ** 2 * depth),
post: shown(post[depth]),
share: percent(share),
},
goals: {
exploded: plain[depth] > MUCH && plain[depth - 1] <= MUCH,
diluted: gain === 1 && share < 0.03,
tamed: gain === SMALL_GAIN && depth === plain.length - 1,
},
};
}
const drag = (data, state, [depth]) => ({ depth });
return { view, drag };
})();
const kinds_scale_law = (() => {
const { logSpace, mean } = linear;
const { percent, row, shown } = numbers;
const [ALPHA_LOW, ALPHA_HIGH] = [1e-6, 1e4];
const [SIZE_LOW, SIZE_HIGH] = [1e-5, 1e6];
const CURVE_POINTS = 51;
const BROKEN_FROM = 0.01;
const SEARCH_STEPS = 60;
const NEAR_A_TENTH = [0.08, 0.12];
function scaleOf(x, eps) {
const meanSquare = mean(x.map((value) => value ** 2));
const across = x.length - 1;
return {
meanSquare,
size(alpha) {
const square = alpha ** 2 * meanSquare;
return Math.sqrt(square / (square + eps));
},
gradient(alpha) {
const total = alpha ** 2 * meanSquare + eps;
return Math.sqrt((across + (eps / total) ** 2) / total);
},
law: (alpha) => Math.sqrt(across / meanSquare) / alpha,
error(alpha) {
const share = eps / (alpha ** 2 * meanSquare);
const shrunk = 1 / Math.sqrt(1 + share);
const missing = ((share * shrunk) / (1 + shrunk)) * shrunk;
const along = (shrunk * share) / (1 + share);
return Math.sqrt(missing ** 2 + along ** 2 / across);
},
edge() {
let [low, high] = [-12, 12];
for (let step = 0; step < SEARCH_STEPS; step++) {
const middle = (low + high) / 2;
if (this.error(10 ** middle) > BROKEN_FROM) low = middle;
else high = middle;
}
return 10 ** ((low + high) / 2);
},
};
}
function view({ x, eps: startEps }, state) {
const [alpha, eps] = [10 ** state.alpha, 10 ** state.eps];
const scale = scaleOf(x, eps);
const alphas = logSpace(ALPHA_LOW, ALPHA_HIGH, CURVE_POINTS);
const edge = scale.edge();
const signed = state.negative ? -alpha : alpha;
const rms = Math.sqrt(alpha ** 2 * scale.meanSquare + eps);
const off = scale.error(alpha);
const near = off >= NEAR_A_TENTH[0] && off <= NEAR_A_TENTH[1];
return {
lines: {
size: alphas.map((one) => [one, scale.size(one)]),
gradient: alphas.map((one) => [one, scale.gradient(one)]),
law: [ALPHA_LOW, ALPHA_HIGH].map((one) => [one, scale.law(one)]),
broken: [[ALPHA_LOW, SIZE_LOW], [edge, SIZE_LOW], [edge, SIZE_HIGH], [ALPHA_LOW, SIZE_HIGH]],
now: [[alpha, SIZE_LOW], [alpha, SIZE_HIGH]],
},
points: { size: [alpha, scale.size(alpha)], gradient: [alpha, scale.gradient(alpha)] },
texts: {
alpha: shown(alpha, 3),
eps: shown(eps, 3),
y: row(x.map((value) => (signed * value) / rms), 2),
size: shown(scale.size(alpha)),
gradient: shown(scale.gradient(alpha)),
law: shown(scale.law(alpha)),
off: percent(off),
edge: shown(edge, 3),
},
goals: { off: near, moved: near && Math.abs(state.eps - Math.log10(startEps)) > 0.5 },
};
}
const drag = (data, state, [alpha]) => ({ alpha: Math.log10(alpha) });
return { view, drag };
})();
const kinds_softmax_temperature = (() => {
const { fixed, shown } = numbers;
const BAR_SHARE = 0.7;
const FLOAT32_LARGEST_EXPONENT = Math.log((2 - 2 ** -23) * 2 ** 127);
const NEARLY_ONE = 0.999;
function view({ logits: given }, state) {
const temperature = 10 ** state.temperature;
const logits = given.map((logit) => logit + state.shift);
const top = Math.max(...logits);
const weights = logits.map((logit) => Math.exp((logit - top) / temperature));
const sum = (values) => values.reduce((total, value) => total + value, 0);
const total = sum(weights);
const shares = weights.map((weight) => weight / total);
const entropy = sum(shares.map((share) => (share > 0 ? -share * Math.log(share) : 0)));
const uniform = Math.log(logits.length);
const exponent = top / temperature;
const overflows = exponent > FLOAT32_LARGEST_EXPONENT;
const largest = Math.max(...shares);
const found = {
lines: {},
points: {},
texts: {
temperature: shown(temperature, 3),
shift: fixed(state.shift, 0),
entropy: fixed(entropy, 4),
uniform: fixed(uniform, 4),
choices: fixed(Math.exp(entropy), 3),
largest: fixed(largest, 4),
total: fixed(sum(shares), 4),
naive: overflows ? "∞: it overflows" : shown(Math.exp(exponent), 3),
},
goals: {
flat: entropy > NEARLY_ONE * uniform,
sharp: largest > NEARLY_ONE,
overflow: overflows && temperature > 0.5 && temperature < 2,
},
};
shares.forEach((share, place) => {
const [n, half] = [place + 1, BAR_SHARE / 2];
found.lines[`bar${n}`] = [[n - half, 0], [n - half, share], [n + half, share], [n + half, 0]];
found.points[`share${n}`] = [n, share];
found.texts[`share${n}`] = fixed(share, 3);
});
return found;
}
return { view };
})();
const kinds_universal_approximation = (() => {
const { project, range } = linear;
const { fixed, shown } = numbers;
const SAMPLES = 201;
const MIDDLE = (SAMPLES - 1) / 2;
const MOST_UNITS = 40;
const ERROR_LOW = 1e-4;
const NO_ERROR = 1e-12;
const CLOSE = 0.01;
const X = range(SAMPLES, (place) => (place - MIDDLE) / MIDDLE);
const FUNCTIONS = {
abs: Math.abs,
square: (x) => x ** 2,
wave: (x) => Math.sin(2 * Math.PI * x),
bump: (x) => 1 / (1 + 25 * x ** 2),
step: Math.sign,
};
function hidden(activation, count) {
const pieces = count - 1;
const units = range(pieces, (place) => {
const fromKnot = X.map((x) => x - (-1 + (2 * place) / pieces));
if (activation === "relu") return fromKnot.map((t) => Math.max(0, t));
if (activation === "tanh") return fromKnot.map((t) => Math.tanh((t - 1 / pieces) * pieces));
return fromKnot.map((t) => t ** 2);
});
return [X.map(() => 1), ...units];
}
function fit(name, activation, count) {
const target = X.map(FUNCTIONS[name]);
const output = project(hidden(activation, count), target);
const error = target.map((value, place) => Math.abs(value - output[place]));
if (name === "step") error[MIDDLE] = 1 + Math.abs(output[MIDDLE]);
return { target, output, error };
}
const known = {};
function supErrors(name, activation) {
return (known[`${name} ${activation}`] ??= range(MOST_UNITS, (place) =>
Math.max(...fit(name, activation, place + 1).error),
));
}
const visible = (error) => (error > NO_ERROR ? error : ERROR_LOW * ERROR_LOW);
const written = (error) => (error > NO_ERROR ? shown(error) : "0");
function view(data, { function: name, activation, units }) {
const { target, output, error } = fit(name, activation, units);
const errors = supErrors(name, activation);
const sup = errors[units - 1];
const worst = sup > NO_ERROR ? error.findIndex((value) => value > sup * (1 - 1e-6)) : MIDDLE;
const place = X[worst];
const curve = (values) => range(MIDDLE + 1, (half) => [X[2 * half], values[2 * half]]);
return {
lines: {
target: curve(target),
network: curve(output),
gap: [[place, target[worst]], [place, output[worst]]],
errors: errors.map((value, n) => [n + 1, visible(value)]),
},
points: { worst: [place, output[worst]], now: [units, visible(sup)] },
texts: {
units: String(units),
sup: written(sup),
place: sup > NO_ERROR ? fixed(place, 2) : "nowhere",
half: written(errors[Math.max(1, Math.floor(units / 2)) - 1]),
},
goals: {
close: name !== "step" && sup < CLOSE,
polynomial: name === "abs" && activation === "square" && units === MOST_UNITS,
jump: name === "step" && units >= 30,
},
};
}
const drag = (data, state, [units]) => ({ units });
return { view, drag };
})();
const main = (() => {
const { range } = linear;
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
found(name) {
const goal = this.element.querySelector(`[data-goal="${name}"]`);
if (goal.classList.contains("is-found")) return;
goal.classList.add("is-found");
this.status.textContent = `Found. ${goal.querySelector("[data-found]").textContent}`;
}
makeMovable(handle) {
this.picture.setAttribute("role", "group");
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
function start(kinds) {
for (const element of document.querySelectorAll("[data-figure]")) {
const kind = kinds[element.dataset.figure];
if (kind) new Figure(element, kind);
}
}
return { start };
})();
main.start({"norm-geometry": kinds_norm_geometry, "residual-stream": kinds_residual_stream, "scale-law": kinds_scale_law, "softmax-temperature": kinds_softmax_temperature, "universal-approximation": kinds_universal_approximation});
