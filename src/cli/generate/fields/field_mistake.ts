/**
 * Checks fields on the command line, each part of which is valid by itself.
 *
 * @module
 */

/** The parts of a field that are checked. */
export interface CheckedField {
  /** Its kind. */
  readonly kind: string;
  /** The digits of a decimal: all, and after the point. */
  readonly size?: readonly [precision: number, scale: number];
  /** The smallest value, or number of characters. */
  readonly min?: string;
  /** The largest value, or number of characters. */
  readonly max?: string;
  /** Whether a text is an email address. */
  readonly isEmail: boolean;
  /** The default, as it was written. */
  readonly default?: string;
}

/** The digits of the decimals of SQLite, on which the tests of every project run. */
const MAX_PRECISION = 18;
const MAX_INT64 = 2n ** 63n - 1n;
/** A valid email address of HTML: https://html.spec.whatwg.org/#valid-e-mail-address */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const MAX_EMAIL = 254;

/** Returns why a model cannot have a field: `its minimum is over its maximum`. */
export function mistakeOf(spec: CheckedField): string | undefined {
  const { kind, size, min, max, default: given } = spec;
  if (size && (size[0] < 1 || size[0] > MAX_PRECISION || size[1] > size[0])) {
    return `its precision is not 1 to ${MAX_PRECISION}, or its scale is over its precision`;
  }
  const bounds = [min, max].filter((bound) => bound !== undefined);
  const other = bounds.find((bound) => !isValue(bound, spec));
  if (other !== undefined) return `${other} is not a value of kind ${kind}`;
  if (min !== undefined && max !== undefined && isOver(min, { than: max, kind })) {
    return "its minimum is over its maximum";
  }
  if (given === undefined || kind === "timestamp" || kind === "uuid") return undefined;
  if (kind !== "text" && !isValue(given, spec)) return `its default is not of kind ${kind}`;
  if (spec.isEmail && (!EMAIL.test(given) || given.length > MAX_EMAIL)) {
    return "its default is not an email address";
  }
  const value = kind === "text" ? String([...given].length) : given;
  const isOutside = (min !== undefined && isOver(min, { than: value, kind })) ||
    (max !== undefined && isOver(value, { than: max, kind }));
  return isOutside ? "its default is not within its bounds" : undefined;
}

/** Checks whether a number or a default is a value of a field, or a length of its texts. */
function isValue(text: string, { kind, size: [precision, scale] = [0, 0] }: CheckedField): boolean {
  const [whole = "", fraction = ""] = text.replace(/^-?0*/, "").split(".");
  switch (kind) {
    case "text":
    case "integer":
      return Number.isSafeInteger(Number(text));
    case "bigint":
      return BigInt(text) <= MAX_INT64 && BigInt(text) >= -MAX_INT64;
    case "real":
      return Number.isFinite(Number(text));
    case "decimal":
      return fraction.replace(/0+$/, "").length <= scale && whole.length <= precision - scale;
    case "date":
      return isDay(text);
    case "time":
      return /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text);
    default:
      return true;
  }
}

/** Checks whether a date exists, of the years 1000 to 9999. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return /^[1-9]/.test(text) && !Number.isNaN(date.getTime()) &&
    date.toISOString().startsWith(text);
}

/** Checks whether a number is over another one, exactly. */
function isOver(
  text: string,
  { than, kind }: { readonly than: string; readonly kind: string },
): boolean {
  if (kind === "real") return Number(text) > Number(than);
  return scaled(text) > scaled(than);
}

/** Returns a decimal in units of its last possible place. */
function scaled(text: string): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(MAX_PRECISION, "0"));
}
