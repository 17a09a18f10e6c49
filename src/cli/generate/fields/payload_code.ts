/**
 * The fields of the payload of a job: their schemas in valibot, and values for tests.
 *
 * @module
 */
import { CliError } from "../../terminal/cli_error.ts";
import { defaultCode } from "./field_code.ts";
import { type FieldSpec, readFields, type SpecKind } from "./field_spec.ts";

/** How a kind is represented in JSON. */
interface JsonKind {
  /** The parts of its schema. */
  readonly schema: (spec: FieldSpec) => readonly string[];
  /** A value that satisfies it, as code. */
  readonly value: (spec: FieldSpec) => string;
}

const JSON_KINDS: Partial<Record<SpecKind, JsonKind>> = {
  text: {
    schema: ({ isEmail }) => ["v.string()", ...isEmail ? ["v.rfcEmail()"] : []],
    value: textValue,
  },
  integer: { schema: () => ["v.number()", "v.safeInteger()"], value: numberValue },
  real: { schema: () => ["v.number()", "v.finite()"], value: numberValue },
  boolean: { schema: () => ["v.boolean()"], value: () => "true" },
  enum: {
    schema: ({ values }) => [`v.picklist(${JSON.stringify(values)})`],
    value: ({ values }) => JSON.stringify(values[0]),
  },
  timestamp: {
    schema: () => ["v.string()", "v.isoTimestamp()", "v.toDate()"],
    value: () => '"2026-01-31T12:00:00.000Z"',
  },
  date: { schema: () => ["v.string()", "v.isoDate()"], value: () => '"2026-01-31"' },
  time: { schema: () => ["v.string()", "v.isoTimeSecond()"], value: () => '"12:30:00"' },
  uuid: {
    schema: () => ["v.string()", "v.uuid()"],
    value: () => '"0b0c7a0e-6a0f-4c7b-9f3e-2d1c5b7a9e10"',
  },
};

/** The kinds of the fields of a payload, as they are written. */
export const PAYLOAD_KINDS: readonly string[] = Object.keys(JSON_KINDS)
  .map((kind) => kind === "real" ? "number" : kind);

/**
 * Reads the fields of a payload, such as `orderId:integer` and `email:text:email?`.
 *
 * @throws {CliError} if one is invalid, or JSON or the schema of a payload cannot represent it
 */
export function readPayload(texts: readonly string[]): readonly FieldSpec[] {
  const specs = readFields(texts, { taken: [] });
  for (const spec of specs) {
    const reason = unusable(spec);
    if (reason !== undefined) throw new CliError(`Cannot generate ${spec.name}: ${reason}`);
  }
  return specs;
}

function unusable(spec: FieldSpec): string | undefined {
  const { name, kind, reference, isUnique } = spec;
  if (reference) return `a payload has no references; write ${name}:integer`;
  if (!JSON_KINDS[kind]) {
    return `a payload is JSON, without the kind ${kind}; its kinds are ${PAYLOAD_KINDS.join(", ")}`;
  }
  if (isUnique) return "a field of a payload cannot be unique";
  const isComputed = kind === "timestamp" || kind === "uuid";
  if (isComputed && spec.default !== undefined) {
    return `its default would be another one in each run; pass it to enqueue`;
  }
  return undefined;
}

/** Returns the schema of a field, which may be `null` or missing if it is nullable. */
export function schemaCode(spec: FieldSpec): string {
  const { kind, min, max, isNullable } = spec;
  const [least, most] = kind === "text"
    ? ["minCodePoints", "maxCodePoints"]
    : ["minValue", "maxValue"];
  const parts = [
    ...JSON_KINDS[kind]?.schema(spec) ?? [],
    ...min === undefined ? [] : [`v.${least}(${Number(min)})`],
    ...max === undefined ? [] : [`v.${most}(${Number(max)})`],
  ];
  const schema = parts.length === 1 ? parts[0]! : `v.pipe(${parts.join(", ")})`;
  if (spec.default === undefined) return isNullable ? `v.nullish(${schema}, null)` : schema;
  const optional = isNullable ? `v.nullable(${schema})` : schema;
  return `v.optional(${optional}, ${defaultCode(spec)})`;
}

/** Returns a value that satisfies the schema of a field; none if the field can be missing. */
export function valueCode(spec: FieldSpec): string | undefined {
  if (spec.isNullable || spec.default !== undefined) return undefined;
  return JSON_KINDS[spec.kind]?.value(spec);
}

function textValue({ isEmail, min = "0", max }: FieldSpec): string {
  const text = isEmail
    ? "ada@example.org".padStart(Number(min), "a")
    : "text".padEnd(Number(min), "x");
  return JSON.stringify(isEmail || max === undefined ? text : text.slice(0, Number(max)));
}

function numberValue({ min, max }: FieldSpec): string {
  if (min !== undefined) return String(Number(min));
  return String(max === undefined ? 1 : Math.min(1, Number(max)));
}
