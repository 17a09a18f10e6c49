/**
 * Decimal numbers as text, with a fixed number of digits after the point.
 *
 * @module
 */

/** How many digits a decimal number has. */
export interface DecimalSize {
  /** Of all its digits, 1 to 65; SQLite keeps 18. */
  readonly precision: number;
  /** Of those, how many after the point, at most 30. */
  readonly scale: number;
}

const MAX_LENGTH = 100;
const DECIMAL = /^(-?)0*(\d+)(?:\.(\d+?)0*)?$/;

/** Gives the digits of a number in units of its last place; `undefined` if it does not fit. */
export function decimalDigits(text: string, { precision, scale }: DecimalSize): bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sign, whole = "", fraction = ""] = DECIMAL.exec(text) ?? [];
  if (sign === undefined || trimmed(fraction).length > scale) return undefined;
  const digits = `${whole}${trimmed(fraction).padEnd(scale, "0")}`.replace(/^0+(?=\d)/, "");
  if (digits !== "0" && digits.length > precision) return undefined;
  return BigInt(sign + digits);
}

/** Writes digits as text: `1250n` of scale 2 is `"12.50"`. */
export function decimalText(digits: bigint, { scale }: DecimalSize): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const point = text.length - scale;
  return scale === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
}

function trimmed(fraction: string): string {
  return fraction === "0" ? "" : fraction;
}
