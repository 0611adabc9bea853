// How figures write numbers: the same functions as courses/figures/numbers.py has. Keep both equal.

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** With so many decimals, and never a minus sign before zero. */
export function fixed(value, decimals) {
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 && Number(text) ? "−" : "") + text;
}

/** 10 raised to a whole number: 10⁻⁶. */
export function power(exponent) {
  return `10${[...String(exponent)].map((sign) => SUPERSCRIPTS[sign]).join("")}`;
}

/** With so many significant digits: 0.02739, 12.00, 1.20 × 10⁻⁶. */
export function shown(value, digits = 4) {
  if (value === 0) return "0";
  const sign = value < 0 ? "−" : "";
  if (!Number.isFinite(value)) return `${sign}∞`;
  const [mantissa, exponent] = Math.abs(value)
    .toExponential(digits - 1)
    .split("e");
  if (exponent >= -4 && exponent <= 5) {
    return sign + fixed(Math.abs(value), Math.max(0, digits - 1 - exponent));
  }
  return `${sign}${mantissa}\u00a0×\u00a0${power(Number(exponent))}`;
}

/** A share of one as per cent: 8.80%. */
export function percent(share) {
  return `${shown(100 * share, 3)}%`;
}

/** A row of numbers: (0.365, 0.730). */
export function row(values, decimals = 3) {
  return `(${values.map((value) => fixed(value, decimals)).join(", ")})`;
}
