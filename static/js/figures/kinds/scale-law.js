// The twin of courses/figures/kinds/scale_law.py: same names, same numbers, same formulas.

import { logSpace, mean } from "../linear.js";
import { percent, row, shown } from "../numbers.js";

const [ALPHA_LOW, ALPHA_HIGH] = [1e-6, 1e4];
const [SIZE_LOW, SIZE_HIGH] = [1e-5, 1e6];
const CURVE_POINTS = 51;
const BROKEN_FROM = 0.01;
const SEARCH_STEPS = 60;
const NEAR_A_TENTH = [0.08, 0.12];

/** RMSNorm at alpha x for alpha > 0 and gamma = 1, by its Jacobian's closed form. */
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

export function view({ x, eps: startEps }, state) {
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
      broken: [
        [ALPHA_LOW, SIZE_LOW],
        [edge, SIZE_LOW],
        [edge, SIZE_HIGH],
        [ALPHA_LOW, SIZE_HIGH],
      ],
      now: [
        [alpha, SIZE_LOW],
        [alpha, SIZE_HIGH],
      ],
    },
    points: { size: [alpha, scale.size(alpha)], gradient: [alpha, scale.gradient(alpha)] },
    texts: {
      alpha: shown(alpha, 3),
      eps: shown(eps, 3),
      y: row(
        x.map((value) => (signed * value) / rms),
        2,
      ),
      size: shown(scale.size(alpha)),
      gradient: shown(scale.gradient(alpha)),
      law: shown(scale.law(alpha)),
      off: percent(off),
      edge: shown(edge, 3),
    },
    goals: { off: near, moved: near && Math.abs(state.eps - Math.log10(startEps)) > 0.5 },
  };
}

export const drag = (_data, _state, [alpha]) => ({ alpha: Math.log10(alpha) });
