/**
 * Comparing the keywords of numbers and texts.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import type { Pair } from "../pair.ts";
import { found, type SchemaDifference } from "../rules.ts";
import { isMultipleOf } from "./satisfies.ts";

/** Compares the keywords of numbers. */
export function compareNumbers({ base, current }: Pair<JsonSchema>): readonly SchemaDifference[] {
  const isInteger = [base, current].map(({ type }) => type === "integer");
  const [was, is] = [base, current].map((keywords) => ({
    minimum: limitOf(keywords, { inclusive: "minimum", exclusive: "exclusiveMinimum", sign: 1 }),
    maximum: limitOf(keywords, { inclusive: "maximum", exclusive: "exclusiveMaximum", sign: -1 }),
  }));
  return [
    ...isInteger[0] === isInteger[1] ? [] : [
      isInteger[1]
        ? found("typeRemoved", "is integer, was number")
        : found("typeAdded", "is number, was integer"),
    ],
    ...compareLimit("minimum", { base: was!.minimum, current: is!.minimum }),
    ...compareLimit("maximum", { base: was!.maximum, current: is!.maximum }),
    ...compareDivisors({ base, current }),
    ...compareFormats({ base, current }),
  ];
}

/** Compares the keywords of texts. */
export function compareTexts({ base, current }: Pair<JsonSchema>): readonly SchemaDifference[] {
  const encodings = ["contentEncoding", "contentMediaType"].flatMap((name) =>
    base[name] === current[name]
      ? []
      : [found("incomparable", `has ${name} ${textOf(current[name])}, had ${textOf(base[name])}`)]
  );
  return [
    ...compareCount("minLength", { base, current }),
    ...compareCount("maxLength", { base, current }),
    ...comparePatterns({ base, current }),
    ...compareFormats({ base, current }),
    ...encodings,
  ];
}

/** Compares the limits of a number of things: characters, elements or members. */
export function compareCount(
  name: string,
  { base, current }: Pair<JsonSchema>,
): readonly SchemaDifference[] {
  const isMinimum = name.startsWith("min");
  const [was, is] = [base, current].map(({ [name]: count = isMinimum ? 0 : Infinity }) => ({
    at: Number(count),
    tightness: Number(count) * (isMinimum ? 1 : -1),
  }));
  return compareLimit(name, { base: was!, current: is! });
}

/** A limit. */
interface Limit {
  /** Its value. */
  readonly at: number;
  /** Whether the value itself is excluded. */
  readonly isExclusive?: boolean;
  /** Larger for one that allows fewer values. */
  readonly tightness: number;
}

function compareLimit(
  name: string,
  { base: was, current: is }: Pair<Limit>,
): readonly SchemaDifference[] {
  const difference = is.tightness - was.tightness ||
    Number(is.isExclusive ?? false) - Number(was.isExclusive ?? false);
  if (Number.isNaN(difference) || difference === 0) return []; // both are infinite, or equal
  const change = `has ${name} ${limitText(is)}, had ${limitText(was)}`;
  return [found(difference > 0 ? "limitTightened" : "limitLoosened", change)];
}

function limitText({ at, isExclusive = false }: Limit): string {
  if (!Number.isFinite(at)) return "none";
  return isExclusive ? `${at} (exclusive)` : String(at);
}

/** Returns the tighter of two limits; an exclusive one of integers is the next integer. */
function limitOf(
  keywords: JsonSchema,
  { inclusive, exclusive, sign }: {
    readonly inclusive: string;
    readonly exclusive: string;
    readonly sign: 1 | -1;
  },
): Limit {
  const limits = [
    { at: Number(keywords[inclusive] ?? -sign * Infinity), isExclusive: false },
    { at: Number(keywords[exclusive] ?? -sign * Infinity), isExclusive: true },
  ].map(({ at, isExclusive }) => {
    if (keywords.type !== "integer" || !Number.isFinite(at)) return { at, isExclusive };
    const whole = sign === 1 ? Math.ceil(at) : Math.floor(at);
    return { at: isExclusive && whole === at ? at + sign : whole, isExclusive: false };
  });
  const [tightest] = limits.toSorted((a, b) =>
    sign * (b.at - a.at) || Number(b.isExclusive) - Number(a.isExclusive)
  );
  const { at, isExclusive } = tightest!;
  return { at, isExclusive: isExclusive && Number.isFinite(at), tightness: sign * at };
}

function compareDivisors({ base, current }: Pair<JsonSchema>): readonly SchemaDifference[] {
  const [was, is] = [base, current].map(({ multipleOf, type }) =>
    listOf<number>(multipleOf).filter((divisor) => type !== "integer" || !isMultipleOf(1, divisor))
  );
  const change = `has multipleOf ${is!.join(" and ") || "none"}, had ${
    was!.join(" and ") || "none"
  }`;
  return compareRestrictions({ base: was!, current: is! }, {
    change,
    includes: (a, b) => isMultipleOf(b, a),
  });
}

function comparePatterns({ base, current }: Pair<JsonSchema>): readonly SchemaDifference[] {
  const [was, is] = [listOf<string>(base.pattern), listOf<string>(current.pattern)];
  const change = `has pattern ${is.join(" and ") || "none"}, had ${was.join(" and ") || "none"}`;
  return compareRestrictions({ base: was, current: is }, { change, includes: (a, b) => a === b });
}

function compareFormats({ base, current }: Pair<JsonSchema>): readonly SchemaDifference[] {
  const [was, is] = [base, current].map(({ format }) =>
    listOf<string>(format).filter((name) => !HINTS.has(name))
  );
  const change = `has format ${is!.join(" and ") || "none"}, had ${was!.join(" and ") || "none"}`;
  const includes = (a: string, b: string) => a === b || (WIDER[b] ?? []).includes(a);
  return compareRestrictions({ base: was!, current: is! }, { change, includes });
}

/** Compares restrictions, all of which apply; `includes(a, b)` if a includes b. */
function compareRestrictions<T>(
  { base: was, current: is }: Pair<readonly T[]>,
  { change, includes }: {
    readonly change: string;
    readonly includes: (a: T, b: T) => boolean;
  },
): readonly SchemaDifference[] {
  const isLooser = is.every((now) => was.some((before) => includes(now, before)));
  const isTighter = was.every((before) => is.some((now) => includes(before, now)));
  if (isLooser && isTighter) return [];
  if (isTighter) return [found("restrictionAdded", change)];
  return [found(isLooser ? "restrictionRemoved" : "incomparable", change)];
}

/** Formats that do not restrict values. */
const HINTS = new Set(["binary", "byte", "password"]);

/** The formats that include another one (JSON Schema Validation §7.3, OpenAPI 3.1.1 §4.4). */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  email: ["idn-email"],
  float: ["double"],
  hostname: ["idn-hostname"],
  int32: ["int64"],
  iri: ["iri-reference"],
  uri: ["iri", "iri-reference", "uri-reference"],
  "uri-reference": ["iri-reference"],
};

function listOf<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return value === undefined ? "none" : String(value);
}
