// The twin of courses/figures/kinds/softmax_temperature.py: same names, same numbers.

import { fixed, shown } from "../numbers.js";

const BAR_SHARE = 0.7;
const FLOAT32_LARGEST_EXPONENT = Math.log((2 - 2 ** -23) * 2 ** 127);
const NEARLY_ONE = 0.999;

export function view({ logits: given }, state) {
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
    found.lines[`bar${n}`] = [
      [n - half, 0],
      [n - half, share],
      [n + half, share],
      [n + half, 0],
    ];
    found.points[`share${n}`] = [n, share];
    found.texts[`share${n}`] = fixed(share, 3);
  });
  return found;
}
