// The little linear algebra that figures need.

export const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
export const range = (count, make) => Array.from({ length: count }, (_, place) => make(place));

/** Values from low to high in equal ratios. */
export function logSpace(low, high, count) {
  const [start, end] = [Math.log10(low), Math.log10(high)];
  return range(count, (place) => 10 ** (start + ((end - start) * place) / (count - 1)));
}

/**
 * The outputs of the least-squares fit of `target` by `columns`: its projection onto their span.
 * Gram-Schmidt with every column orthogonalised twice, which keeps it orthogonal to rounding; what
 * is left of a column that depends on those before it is dropped.
 */
export function project(columns, target) {
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
    unit.forEach((value, place) => {
      output[place] += along * value;
    });
  }
  return output;
}
