// The twin of courses/figures/kinds/universal_approximation.py: same names, same numbers.

import { project, range } from "../linear.js";
import { fixed, shown } from "../numbers.js";

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

/** What each of so many hidden units gives at all samples. */
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
  // The network is continuous: at the jump it cannot be near both of its sides.
  if (name === "step") error[MIDDLE] = 1 + Math.abs(output[MIDDLE]);
  return { target, output, error };
}

const known = {};

/** The largest error for 1, 2, ... hidden units; forty fits, done once for each pair. */
function supErrors(name, activation) {
  const key = `${name} ${activation}`;
  known[key] ??= range(MOST_UNITS, (place) => Math.max(...fit(name, activation, place + 1).error));
  return known[key];
}

const visible = (error) => (error > NO_ERROR ? error : ERROR_LOW * ERROR_LOW);
const written = (error) => (error > NO_ERROR ? shown(error) : "0");

export function view(_data, { function: name, activation, units }) {
  const { target, output, error } = fit(name, activation, units);
  const errors = supErrors(name, activation);
  const sup = errors[units - 1];
  const worst = sup > NO_ERROR ? error.findIndex((value) => value > sup * (1 - 1e-6)) : MIDDLE;
  const place = X[worst];
  // Every other sample: a picture cannot show more.
  const curve = (values) => range(MIDDLE + 1, (half) => [X[2 * half], values[2 * half]]);
  return {
    lines: {
      target: curve(target),
      network: curve(output),
      gap: [
        [place, target[worst]],
        [place, output[worst]],
      ],
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

export const drag = (_data, _state, [units]) => ({ units });
