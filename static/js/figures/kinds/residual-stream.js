// The twin of courses/figures/kinds/residual_stream.py: same names, same numbers.

import { percent, shown } from "../numbers.js";

const [VARIANCE_LOW, VARIANCE_HIGH] = [1e-2, 1e16];
const MUCH = 10_000;
const SMALL_GAIN = 0.25;

export function view({ variances }, state) {
  const { depth } = state;
  const gain = Number(state.gain);
  const streams = variances[state.gain];
  const { plain, pre, post } = streams;
  const growth = 1 + gain ** 2;
  const share = pre[depth] / pre[depth - 1] - 1;
  const lines = {
    "plain-law": plain.map((_, n) => [n, growth ** n]),
    "pre-law": plain.map((_, n) => [n, 1 + gain ** 2 * n]),
    now: [
      [depth, VARIANCE_LOW],
      [depth, VARIANCE_HIGH],
    ],
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

export const drag = (_data, _state, [depth]) => ({ depth });
