// The twin of courses/figures/kinds/norm_geometry.py: same names, same numbers.

import { dot, mean, range } from "../linear.js";
import { fixed, row, shown } from "../numbers.js";

const OUTLINE_POINTS = 60;
const TILT = (22 * Math.PI) / 180;
const PLANE_SHARE = 0.8;
const SAME_PLACE = 0.05;
const LEFT_NOTHING = 1e-6;
// Two directions across (1, 1, 1), orthonormal.
const CENTRED = [[1, -1, 0].map((value) => value / Math.sqrt(2)), [1, 1, -2].map((value) => value / Math.sqrt(6))];

/** Right and up of the picture as directions of the rows' space. */
function camera(turnDegrees, size) {
  if (size === 2)
    return [
      [1, 0],
      [0, 1],
    ];
  const turn = (turnDegrees * Math.PI) / 180;
  return [
    [-Math.sin(turn), Math.cos(turn), 0],
    [-Math.sin(TILT) * Math.cos(turn), -Math.sin(TILT) * Math.sin(turn), Math.cos(TILT)],
  ];
}

/** The outline of what a matrix of two rows makes of the unit ball: an ellipse. */
function outline([right, up]) {
  const first = Math.sqrt(dot(right, right));
  const slant = first ? dot(right, up) / first : 0;
  const second = Math.sqrt(Math.max(0, dot(up, up) - slant ** 2));
  return range(OUTLINE_POINTS, (place) => {
    const angle = (2 * Math.PI * place) / OUTLINE_POINTS;
    return [first * Math.cos(angle), slant * Math.cos(angle) + second * Math.sin(angle)];
  });
}

/** Where centred rows lie, and of three numbers also where LayerNorm sends them. */
function centredPlaces(eye, gamma, limit) {
  if (gamma.length === 2)
    return {
      centred: [
        [-limit, limit],
        [limit, -limit],
      ],
    };
  const across = (weights, length) =>
    outline(eye.map((axis) => CENTRED.map((side) => length * dot(weights(axis), side))));
  return {
    centred: across((axis) => axis, limit * PLANE_SHARE),
    equator: outline(eye.map((axis) => [0, 1].map((n) => axis[n] * gamma[n] * Math.sqrt(3)))),
    circle: across((axis) => axis.map((value, place) => value * gamma[place]), Math.sqrt(3)),
  };
}

export function view({ x: start, eps, limit }, state) {
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

/** Move x in the picture's plane; how far it is from the viewer stays. */
export function drag({ x: start }, state, [right, up]) {
  const size = start.length;
  const eye = camera(state.turn, size);
  const x = range(size, (place) => state[`x${place + 1}`]);
  const by = [right - dot(eye[0], x), up - dot(eye[1], x)];
  return Object.fromEntries(
    x.map((value, place) => [`x${place + 1}`, value + by[0] * eye[0][place] + by[1] * eye[1][place]]),
  );
}
