// The row of numbers on the home page: RMSNorm of what the reader types, as `courses/pages/samples.py`.

const EPS = 1e-6;
const box = document.querySelector("[data-try]");
const all = (name) => [...box.querySelectorAll(`[data-try-${name}]`)];
const inputs = all("x");
const first = inputs.map((input) => input.value);
const MAPS = {
  "times-ten": (value) => value * 10,
  "plus-one": (value) => value + 1,
  reset: (_, place) => Number(first[place]),
};

function update() {
  const row = inputs.map((input) => input.valueAsNumber || 0);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const rms = Math.sqrt(mean(row.map((x) => x * x)) + EPS);
  const result = row.map((x) => x / rms);
  all("y").forEach((output, place) => {
    output.value = result[place].toFixed(3);
  });
  all("rms")[0].value = rms.toFixed(3);
  all("square")[0].value = mean(result.map((y) => y * y)).toFixed(3);
}

for (const input of inputs) {
  input.readOnly = false;
  input.addEventListener("input", update);
}
for (const button of all("map")) {
  button.addEventListener("click", () => {
    const map = MAPS[button.dataset.tryMap];
    inputs.forEach((input, place) => {
      // Ten clicks must not run out of digits.
      input.value = Number(map(input.valueAsNumber || 0, place).toPrecision(6));
    });
    update();
  });
}
